using LightQ.Protocol;

namespace LightQ.Server.DataPlane;

/// <summary>Limits of the data plane; see the Welcome frame.</summary>
public sealed record DataPlaneOptions
{
    /// <summary>Largest frame in bytes, header included. Default 4 MiB; at least the largest batch of a topic that is to be published to.</summary>
    public int MaxFrameBytes
    {
        get;
        init => field = value is >= 64 * 1024 and <= 128 * 1024 * 1024 ? value : throw new ArgumentOutOfRangeException(nameof(MaxFrameBytes), value, "65536 to 134217728");
    } = ProtocolLimits.DefaultFrameBytes;

    /// <summary>Silence after which either side sends a Ping; three intervals end the connection. Default 10 s.</summary>
    public TimeSpan Heartbeat
    {
        get;
        init => field = value >= TimeSpan.FromMilliseconds(100) && value <= TimeSpan.FromMinutes(10) ? value : throw new ArgumentOutOfRangeException(nameof(Heartbeat), value, "00:00:00.1 to 00:10:00");
    } = TimeSpan.FromSeconds(10);

    /// <summary>Time a client has to say Hello and be accepted. Default 5 s.</summary>
    public TimeSpan HandshakeTimeout
    {
        get;
        init => field = value > TimeSpan.Zero ? value : throw new ArgumentOutOfRangeException(nameof(HandshakeTimeout), value, "above zero");
    } = TimeSpan.FromSeconds(5);

    /// <summary>Most connections. Default 20,000.</summary>
    public int MaxConnections
    {
        get;
        init => field = value > 0 ? value : throw new ArgumentOutOfRangeException(nameof(MaxConnections), value, "1 or more");
    } = 20_000;

    /// <summary>Most streams of one connection. Default 10,000.</summary>
    public int MaxStreams
    {
        get;
        init => field = value > 0 ? value : throw new ArgumentOutOfRangeException(nameof(MaxStreams), value, "1 or more");
    } = 10_000;
}
