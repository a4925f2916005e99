namespace LightQ.Protocol.Frames;

/// <summary>
/// From the client: bytes granted to a subscription. From the server: bytes of the publish window given back to a
/// producer.
/// </summary>
/// <param name="Bytes">How many bytes.</param>
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
