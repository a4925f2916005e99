namespace LightQ.Protocol.Frames;

/// <summary>From the server: offsets that are not delivered.</summary>
/// <param name="FirstOffset">The first of them; 0 or above.</param>
/// <param name="LastOffset">The last of them; <paramref name="FirstOffset"/> or above.</param>
/// <param name="Reason">Why they are not delivered.</param>
public readonly record struct GapFrame(long FirstOffset, long LastOffset, GapReason Reason) : IFrameBody<GapFrame>
{
    /// <inheritdoc/>
    public static FrameType Type => FrameType.Gap;

    /// <inheritdoc/>
    public int MaxSize => 8 + 8 + 1;

    /// <inheritdoc/>
    public void Write(ref BodyWriter writer)
    {
        writer.WriteInt64(FirstOffset);
        writer.WriteInt64(LastOffset);
        writer.WriteByte((byte)Reason);
    }

    /// <inheritdoc/>
    public static GapFrame Read(ref BodyReader reader)
    {
        var gap = new GapFrame(reader.ReadInt64(), reader.ReadInt64(), reader.ReadEnum<GapReason>());
        return gap.FirstOffset >= 0 && gap.LastOffset >= gap.FirstOffset
            ? gap
            : throw new ProtocolException(ErrorCode.MalformedFrame, $"A Gap frame's range is not one: {gap}.");
    }
}
