namespace LightQ.Protocol.Frames;

/// <summary>
/// From the client: opens the connection. The magic "LTQ1" comes first, so that the broker recognizes another protocol
/// at once.
/// </summary>
/// <param name="MinVersion">Oldest protocol version the client speaks.</param>
/// <param name="MaxVersion">Newest protocol version the client speaks.</param>
/// <param name="Features">Feature bits the client wants; bits above 31 are required.</param>
/// <param name="ClientName">For the broker's log and statistics; may be empty.</param>
/// <param name="Mechanism"><c>anonymous</c>, <c>plain</c>, <c>token</c> or <c>external</c>.</param>
/// <param name="Credentials">
/// For <c>plain</c>, user and password joined by a NUL; for <c>token</c>, the token; else empty.
/// </param>
/// <param name="Time">The client's clock, unix microseconds; 0 for a client that does not say.</param>
public readonly record struct HelloFrame(
    ushort MinVersion,
    ushort MaxVersion,
    ulong Features,
    string ClientName,
    string Mechanism,
    string Credentials,
    long Time = 0
) : IFrameBody<HelloFrame>
{
    /// <summary>The first four bytes of the body: "LTQ1".</summary>
    public const uint Magic = 0x3151_544C;

    /// <summary>Mechanism without credentials.</summary>
    public const string Anonymous = "anonymous";

    /// <summary>Mechanism with user and password.</summary>
    public const string Plain = "plain";

    /// <summary>Mechanism with a token of the control plane's Login.</summary>
    public const string Token = "token";

    /// <summary>Mechanism without credentials: the client's certificate names the user.</summary>
    public const string External = "external";

    /// <inheritdoc/>
    public static FrameType Type => FrameType.Hello;

    /// <inheritdoc/>
    public int MaxSize =>
        4
        + 2
        + 2
        + 8
        + BodyWriter.SizeOf(ClientName)
        + BodyWriter.SizeOf(Mechanism)
        + BodyWriter.SizeOf(Credentials)
        + sizeof(long);

    private static ushort ReadVersion(ref BodyReader reader) =>
        reader.ReadUInt32() == Magic
            ? reader.ReadUInt16()
            : throw new ProtocolException(ErrorCode.MalformedFrame, "The Hello frame does not start with LTQ1.");

    /// <inheritdoc/>
    public void Write(ref BodyWriter writer)
    {
        writer.WriteUInt32(Magic);
        writer.WriteUInt16(MinVersion);
        writer.WriteUInt16(MaxVersion);
        writer.WriteUInt64(Features);
        writer.WriteString(ClientName);
        writer.WriteString(Mechanism);
        writer.WriteString(Credentials);
        if (Time != 0)
            writer.WriteInt64(Time);
    }

    /// <inheritdoc/>
    public static HelloFrame Read(ref BodyReader reader) =>
        new(
            ReadVersion(ref reader),
            reader.ReadUInt16(),
            reader.ReadUInt64(),
            reader.ReadString(),
            reader.ReadString(),
            reader.ReadString(),
            reader.Remaining == 0 ? 0 : reader.ReadInt64()
        );

    /// <summary>Names the client and the mechanism; never the credentials.</summary>
    public override string ToString() =>
        $"Hello from '{ClientName}', versions {MinVersion} to {MaxVersion}, {Mechanism}";
}
