namespace LightQ.Protocol.Frames;

/// <summary>Asks for a Pong with the same eight bytes.</summary>
/// <param name="Payload">Any eight bytes.</param>
public readonly record struct PingFrame(ulong Payload) : IFrameBody<PingFrame>
{
    /// <inheritdoc/>
    public static FrameType Type => FrameType.Ping;

    /// <inheritdoc/>
    public int MaxSize => sizeof(ulong);

    /// <inheritdoc/>
    public void Write(ref BodyWriter writer)
    {
        writer.WriteUInt64(Payload);
    }

    /// <inheritdoc/>
    public static PingFrame Read(ref BodyReader reader) => new(reader.ReadUInt64());
}
