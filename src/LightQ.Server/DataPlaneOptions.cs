using LightQ.Protocol;

namespace LightQ.Server;

/// <summary>Limits of the data plane; see the Welcome frame.</summary>
public sealed record DataPlaneOptions
{
    /// <summary>
    /// Largest frame in bytes, header included. Default 4 MiB; at least the largest batch of a topic that is to be
    /// published to.
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

    /// <summary>Time a client has to say Hello and be accepted. Default 5 s.</summary>
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

    /// <summary>Most connections from one address (of IPv6, one /64 network). Default 10,000.</summary>
    public int MaxConnectionsPerAddress
    {
        get;
        init =>
            field =
                value > 0
                    ? value
                    : throw new ArgumentOutOfRangeException(nameof(MaxConnectionsPerAddress), value, "1 or more");
    } = 10_000;

    /// <summary>
    /// Most connections that have not been welcomed yet: TLS, Hello or a password is still to come or to be checked.
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
    /// Bytes a second that a frame must come with, on average; 0 for none. Looked at when a heartbeat is due. Default
    /// 1,024.
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

    /// <summary>How long a frame may take whatever its rate is. Default 5 s.</summary>
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
    /// Most bytes of memory for frames of more than 256 KiB that have begun to arrive, on all connections together.
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
    /// How long the system may take for what one send gives it (at most about 320 KiB) before the peer counts as one
    /// that does not read. Default 30 s.
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
    /// Most bytes that the system takes of a connection ahead of what it can send, on Linux; what is above stays with
    /// the broker, where the slow policy has a say and others go first. What is on its way to the peer does not count,
    /// so a long way is no slower. Default 256 KiB, as much as one delivery.
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
