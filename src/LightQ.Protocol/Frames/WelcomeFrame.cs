namespace LightQ.Protocol.Frames;

/// <summary>From the server: accepts the connection and states the limits and features in force.</summary>
/// <param name="Version">The protocol version of this connection.</param>
/// <param name="Features">Feature bits in force.</param>
/// <param name="BrokerId">Identifies the broker's data directory; stays the same across restarts.</param>
/// <param name="ConnectionId">Names the connection in the broker's log and statistics.</param>
/// <param name="MaxFrameBytes">Largest frame, header included.</param>
/// <param name="MaxBatchBytes">Largest batch, header included.</param>
/// <param name="MaxMessageBytes">Largest message.</param>
/// <param name="HeartbeatMilliseconds">
/// Each side sends something at least this often. After three intervals of silence the peer counts as dead.
/// </param>
/// <param name="Time">The broker's clock, unix microseconds; 0 from a broker that does not say.</param>
/// <param name="TokenEnd">
/// When the token ends that the client has shown, unix microseconds by the broker's clock; 0 for one that does not, for
/// another login, and from a broker that does not say. Of one whose <paramref name="Time"/> is 0 it means nothing.
/// </param>
public readonly record struct WelcomeFrame(
    ushort Version,
    ulong Features,
    Guid BrokerId,
    uint ConnectionId,
    uint MaxFrameBytes,
    uint MaxBatchBytes,
    uint MaxMessageBytes,
    uint HeartbeatMilliseconds,
    long Time = 0,
    long TokenEnd = 0
) : IFrameBody<WelcomeFrame>
{
    /// <inheritdoc/>
    public static FrameType Type => FrameType.Welcome;

    /// <inheritdoc/>
    public int MaxSize => 2 + 8 + 16 + (5 * sizeof(uint)) + (2 * sizeof(long));

    /// <inheritdoc/>
    public void Write(ref BodyWriter writer)
    {
        writer.WriteUInt16(Version);
        writer.WriteUInt64(Features);
        writer.WriteGuid(BrokerId);
        writer.WriteUInt32(ConnectionId);
        writer.WriteUInt32(MaxFrameBytes);
        writer.WriteUInt32(MaxBatchBytes);
        writer.WriteUInt32(MaxMessageBytes);
        writer.WriteUInt32(HeartbeatMilliseconds);
        if (Time == 0 && TokenEnd == 0)
            return;
        writer.WriteInt64(Time);
        if (TokenEnd != 0)
            writer.WriteInt64(TokenEnd);
    }

    /// <inheritdoc/>
    public static WelcomeFrame Read(ref BodyReader reader) =>
        new(
            reader.ReadUInt16(),
            reader.ReadUInt64(),
            reader.ReadGuid(),
            reader.ReadUInt32(),
            reader.ReadUInt32(),
            reader.ReadUInt32(),
            reader.ReadUInt32(),
            reader.ReadUInt32(),
            reader.Remaining == 0 ? 0 : reader.ReadInt64(),
            reader.Remaining == 0 ? 0 : reader.ReadInt64()
        );
}
