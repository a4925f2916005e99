namespace LightQ.Protocol.Frames;

/// <summary>Asks for a Pong with the same eight bytes.</summary>
/// <param name="Payload">Any eight bytes.</param>
/// <param name="Time">From a broker whose clock was set: its time, unix microseconds. Otherwise 0.</param>
public readonly record struct PingFrame(ulong Payload, long Time = 0) : IFrameBody<PingFrame>
{
    /// <inheritdoc/>
    public static FrameType Type => FrameType.Ping;

    /// <inheritdoc/>
    public int MaxSize => sizeof(ulong) + sizeof(long);

    /// <inheritdoc/>
    public void Write(ref BodyWriter writer)
    {
        writer.WriteUInt64(Payload);
        if (Time != 0)
            writer.WriteInt64(Time);
    }

    /// <inheritdoc/>
    public static PingFrame Read(ref BodyReader reader) =>
        new(reader.ReadUInt64(), reader.Remaining == 0 ? 0 : reader.ReadInt64());
}
