namespace LightQ.Protocol.Frames;

/// <summary>Answers a Ping with its eight bytes.</summary>
/// <param name="Payload">The bytes of the Ping.</param>
public readonly record struct PongFrame(ulong Payload) : IFrameBody<PongFrame>
{
    /// <inheritdoc/>
    public static FrameType Type => FrameType.Pong;

    /// <inheritdoc/>
    public int MaxSize => sizeof(ulong);

    /// <inheritdoc/>
    public void Write(ref BodyWriter writer)
    {
        writer.WriteUInt64(Payload);
    }

    /// <inheritdoc/>
    public static PongFrame Read(ref BodyReader reader) => new(reader.ReadUInt64());
}
