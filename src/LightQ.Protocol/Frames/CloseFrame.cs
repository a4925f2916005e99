namespace LightQ.Protocol.Frames;

/// <summary>Asks the peer to end a stream.</summary>
/// <param name="Code"><see cref="ErrorCode.None"/> for a normal end.</param>
/// <param name="Message">For people; may be empty.</param>
public readonly record struct CloseFrame(ErrorCode Code, string Message) : IFrameBody<CloseFrame>
{
    /// <inheritdoc/>
    public static FrameType Type => FrameType.Close;

    /// <inheritdoc/>
    public int MaxSize => sizeof(ushort) + BodyWriter.SizeOf(Message);

    /// <inheritdoc/>
    public void Write(ref BodyWriter writer)
    {
        writer.WriteUInt16((ushort)Code);
        writer.WriteString(Message);
    }

    /// <inheritdoc/>
    public static CloseFrame Read(ref BodyReader reader) => new((ErrorCode)reader.ReadUInt16(), reader.ReadString());
}
