namespace LightQ.Protocol.Frames;

/// <summary>
/// Client: bytes granted to a subscription. Server: bytes of the publish window given back to a producer.
/// </summary>
/// <param name="Bytes">How many.</param>
public readonly record struct CreditFrame(uint Bytes) : IFrameBody<CreditFrame>
{
    /// <inheritdoc/>
    public static FrameType Type => FrameType.Credit;

    /// <inheritdoc/>
    public int MaxSize => sizeof(uint);

    /// <inheritdoc/>
    public void Write(ref BodyWriter writer)
    {
        writer.WriteUInt32(Bytes);
    }

    /// <inheritdoc/>
    public static CreditFrame Read(ref BodyReader reader) => new(reader.ReadUInt32());
}
