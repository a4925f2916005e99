using LightQ.Protocol;

namespace LightQ.Server;

/// <summary>Limits of the data plane; see the Welcome frame.</summary>
public sealed record DataPlaneOptions
{
    /// <summary>
    /// Largest frame in bytes, header included. Default 4 MiB; at least the largest batch of any topic that clients
    /// publish to.
    /// </summary>
    public int MaxFrameBytes
    {
        get;
        init =>
            field = value is >= 64 * 1024 and <= 128 * 1024 * 1024
                ? value
                : throw new ArgumentOutOfRangeException(nameof(MaxFrameBytes), value, "65536 to 134217728");
    } = ProtocolLimits.DefaultFrameBytes;

    /// <summary>
    /// Silence after which either side sends a Ping; three intervals end the connection. Default 10 s.
    /// </summary>
    public TimeSpan Heartbeat
    {
        get;
        init =>
            field =
                value >= TimeSpan.FromMilliseconds(100) && value <= TimeSpan.FromMinutes(10)
                    ? value
                    : throw new ArgumentOutOfRangeException(nameof(Heartbeat), value, "00:00:00.1 to 00:10:00");
    } = TimeSpan.FromSeconds(10);

    /// <summary>Time that a client has to send Hello and be accepted. Default 5 s.</summary>
    public TimeSpan HandshakeTimeout
    {
        get;
        init =>
            field =
                value > TimeSpan.Zero
                    ? value
                    : throw new ArgumentOutOfRangeException(nameof(HandshakeTimeout), value, "above zero");
    } = TimeSpan.FromSeconds(5);

    /// <summary>Most connections. Default 20,000.</summary>
    public int MaxConnections
    {
        get;
        init =>
            field =
                value > 0 ? value : throw new ArgumentOutOfRangeException(nameof(MaxConnections), value, "1 or more");
    } = 20_000;

    /// <summary>
    /// Most connections from one address (of IPv6, one /64 network). 0, the default, is the address's share
    /// (<see cref="LightQ.Broker.BrokerOptions.MaxSharePercent"/>).
    /// </summary>
    public int MaxConnectionsPerAddress
    {
        get;
        init =>
            field =
                value >= 0
                    ? value
                    : throw new ArgumentOutOfRangeException(
                        nameof(MaxConnectionsPerAddress),
                        value,
                        "0 (its share) or more"
                    );
    }

    /// <summary>
    /// Most connections that the broker has not accepted yet: TLS, Hello or the check of a password is not finished.
    /// Default 4,096.
    /// </summary>
    public int MaxUnauthenticatedConnections
    {
        get;
        init =>
            field =
                value > 0
                    ? value
                    : throw new ArgumentOutOfRangeException(nameof(MaxUnauthenticatedConnections), value, "1 or more");
    } = 4_096;

    /// <summary>
    /// Lowest average rate at which a frame must arrive, in bytes a second; 0 for no limit. Checked when a heartbeat is
    /// due. Default 1,024.
    /// </summary>
    public int MinFrameBytesPerSecond
    {
        get;
        init =>
            field =
                value >= 0
                    ? value
                    : throw new ArgumentOutOfRangeException(nameof(MinFrameBytesPerSecond), value, "0 (none) or more");
    } = 1_024;

    /// <summary>How long a frame may take, whatever its rate is. Default 5 s.</summary>
    public TimeSpan FrameGrace
    {
        get;
        init =>
            field =
                value >= TimeSpan.FromMilliseconds(100) && value <= TimeSpan.FromMinutes(10)
                    ? value
                    : throw new ArgumentOutOfRangeException(nameof(FrameGrace), value, "00:00:00.1 to 00:10:00");
    } = TimeSpan.FromSeconds(5);

    /// <summary>
    /// Most bytes of memory for frames of more than 256 KiB that have begun to arrive, for all connections together.
    /// Default 256 MiB.
    /// </summary>
    public long MaxAssemblyBytes
    {
        get;
        init =>
            field =
                value >= 1
                    ? value
                    : throw new ArgumentOutOfRangeException(nameof(MaxAssemblyBytes), value, "1 or more");
    } = 256L << 20;

    /// <summary>
    /// How long the operating system may take to send what one send call passes to it (at most about 320 KiB). After
    /// that the peer counts as one that does not read. Default 30 s.
    /// </summary>
    public TimeSpan StalledReaderTimeout
    {
        get;
        init =>
            field =
                value >= TimeSpan.FromMilliseconds(500) && value <= TimeSpan.FromHours(1)
                    ? value
                    : throw new ArgumentOutOfRangeException(
                        nameof(StalledReaderTimeout),
                        value,
                        "00:00:00.5 to 01:00:00"
                    );
    } = TimeSpan.FromSeconds(30);

    /// <summary>
    /// Most unsent bytes of a connection that the operating system buffers, on Linux. The rest stays in the broker,
    /// where the slow policy applies and other connections can be served first. Bytes that are on their way to the peer
    /// do not count, so a long distance is not slower. Default 256 KiB, as much as one delivery.
    /// </summary>
    public int MaxUnsentBytes
    {
        get;
        init =>
            field = value is >= 16 * 1024 and <= 64 * 1024 * 1024
                ? value
                : throw new ArgumentOutOfRangeException(nameof(MaxUnsentBytes), value, "16384 to 67108864");
    } = 256 * 1024;

    /// <summary>Most bytes of answers that wait for a client to read them. Default 1 MiB.</summary>
    public int MaxUnreadAnswerBytes
    {
        get;
        init =>
            field = value is >= 64 * 1024 and <= 64 * 1024 * 1024
                ? value
                : throw new ArgumentOutOfRangeException(nameof(MaxUnreadAnswerBytes), value, "65536 to 67108864");
    } = 1024 * 1024;

    /// <summary>Most streams of one connection. Default 10,000.</summary>
    public int MaxStreams
    {
        get;
        init =>
            field = value > 0 ? value : throw new ArgumentOutOfRangeException(nameof(MaxStreams), value, "1 or more");
    } = 10_000;
}
