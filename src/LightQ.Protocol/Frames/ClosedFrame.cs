namespace LightQ.Protocol.Frames;

/// <summary>
/// Reports that a stream has ended. Also answers a rejected OpenProducer or Subscribe, with the request's tag.
/// </summary>
/// <param name="Code"><see cref="ErrorCode.None"/> for a normal end.</param>
/// <param name="Message">For people; may be empty.</param>
public readonly record struct ClosedFrame(ErrorCode Code, string Message) : IFrameBody<ClosedFrame>
{
    /// <inheritdoc/>
    public static FrameType Type => FrameType.Closed;

    /// <inheritdoc/>
    public int MaxSize => sizeof(ushort) + BodyWriter.SizeOf(Message);

    /// <inheritdoc/>
    public void Write(ref BodyWriter writer)
    {
        writer.WriteUInt16((ushort)Code);
        writer.WriteString(Message);
    }

    /// <inheritdoc/>
    public static ClosedFrame Read(ref BodyReader reader) => new((ErrorCode)reader.ReadUInt16(), reader.ReadString());
}
