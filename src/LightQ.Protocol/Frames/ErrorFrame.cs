namespace LightQ.Protocol.Frames;

/// <summary>Server: the reason the connection closes.</summary>
/// <param name="Code"><see cref="ErrorCode.None"/> for a normal end.</param>
/// <param name="Message">For people; may be empty.</param>
public readonly record struct ErrorFrame(ErrorCode Code, string Message) : IFrameBody<ErrorFrame>
{
    /// <inheritdoc/>
    public static FrameType Type => FrameType.Error;

    /// <inheritdoc/>
    public int MaxSize => sizeof(ushort) + BodyWriter.SizeOf(Message);

    /// <inheritdoc/>
    public void Write(ref BodyWriter writer)
    {
        writer.WriteUInt16((ushort)Code);
        writer.WriteString(Message);
    }

    /// <inheritdoc/>
    public static ErrorFrame Read(ref BodyReader reader) => new((ErrorCode)reader.ReadUInt16(), reader.ReadString());
}
