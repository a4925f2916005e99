namespace LightQ.Protocol.Frames;

/// <summary>From the client: how much a member of a group takes, and works on at a time, from now on.</summary>
/// <param name="MaxInFlight">Most messages delivered and not settled; 0 for no limit.</param>
/// <param name="AtATime">
/// How many messages the member works on at once, and that it says which it begins; 0 where it does not say.
/// </param>
public readonly record struct WindowFrame(uint MaxInFlight, uint AtATime) : IFrameBody<WindowFrame>
{
    /// <inheritdoc/>
    public static FrameType Type => FrameType.Window;

    /// <inheritdoc/>
    public int MaxSize => sizeof(uint) + sizeof(uint);

    /// <inheritdoc/>
    public void Write(ref BodyWriter writer)
    {
        writer.WriteUInt32(MaxInFlight);
        writer.WriteUInt32(AtATime);
    }

    /// <inheritdoc/>
    public static WindowFrame Read(ref BodyReader reader) => new(reader.ReadUInt32(), reader.ReadUInt32());
}
