namespace LightQ.Protocol.Frames;

/// <summary>From the server: finish what is under way and reconnect, here later or elsewhere.</summary>
/// <param name="Code">Why the broker ends the connection.</param>
/// <param name="TimeLeftMilliseconds">After this time the broker closes the connection.</param>
/// <param name="Message">For people; may be empty.</param>
public readonly record struct GoAwayFrame(ErrorCode Code, uint TimeLeftMilliseconds, string Message)
    : IFrameBody<GoAwayFrame>
{
    /// <inheritdoc/>
    public static FrameType Type => FrameType.GoAway;

    /// <inheritdoc/>
    public int MaxSize => sizeof(ushort) + sizeof(uint) + BodyWriter.SizeOf(Message);

    /// <inheritdoc/>
    public void Write(ref BodyWriter writer)
    {
        writer.WriteUInt16((ushort)Code);
        writer.WriteUInt32(TimeLeftMilliseconds);
        writer.WriteString(Message);
    }

    /// <inheritdoc/>
    public static GoAwayFrame Read(ref BodyReader reader) =>
        new((ErrorCode)reader.ReadUInt16(), reader.ReadUInt32(), reader.ReadString());
}
