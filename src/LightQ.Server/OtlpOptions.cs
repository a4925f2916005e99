namespace LightQ.Server;

/// <summary>Where a broker sends its metrics, and spans of calls to the control plane. Default: nowhere.</summary>
/// <remarks>
/// The OpenTelemetry SDK that sends them also reads the <c>OTEL_</c> variables of the process, for everything that is
/// not set here.
/// </remarks>
public sealed record OtlpOptions
{
    /// <summary>What an endpoint looks like.</summary>
    internal const string EndpointForm = "http://HOST:PORT or https://HOST:PORT, without a user";

    /// <summary>
    /// The collector's address, such as <c>http://collector:4317</c>: http or https, with neither a user nor a
    /// fragment. Null, the default, exports nothing.
    /// </summary>
    public Uri? Endpoint
    {
        get;
        init =>
            field =
                value is null || IsEndpoint(value)
                    ? value
                    : throw new ArgumentOutOfRangeException(nameof(Endpoint), EndpointForm);
    }

    /// <summary>The protocol of the collector. Default <see cref="OtlpProtocol.Grpc"/>.</summary>
    public OtlpProtocol Protocol
    {
        get;
        init =>
            field = Enum.IsDefined(value)
                ? value
                : throw new ArgumentOutOfRangeException(nameof(Protocol), value, "grpc or http/protobuf");
    }

    /// <summary>
    /// Headers of each request, such as <c>api-key=SECRET</c>: names and values separated by commas, percent-encoded
    /// where they contain a comma. This is a secret and is never shown. Default none.
    /// </summary>
    public string Headers
    {
        get;
        init =>
            field = AreHeaders(value)
                ? value
                : throw new ArgumentOutOfRangeException(nameof(Headers), "NAME=VALUE,NAME=VALUE");
    } = "";

    /// <summary>All options except the headers, which are a secret.</summary>
    public override string ToString() =>
        $"{nameof(OtlpOptions)} {{ {nameof(Endpoint)} = {Endpoint}, {nameof(Protocol)} = {Protocol} }}";

    private static bool IsEndpoint(Uri uri) =>
        uri.IsAbsoluteUri
        && (uri.Scheme == Uri.UriSchemeHttp || uri.Scheme == Uri.UriSchemeHttps)
        && uri.Host.Length != 0
        && uri.UserInfo.Length == 0
        && uri.Fragment.Length == 0;

    private static bool AreHeaders(string headers) => headers.Length == 0 || headers.Split(',').All(IsHeader);

    private static bool IsHeader(string header)
    {
        int equals = header.IndexOf('=', StringComparison.Ordinal);
        return equals > 0
            && header[..equals].Trim() is { Length: > 0 } name
            && name.All(IsTokenCharacter)
            && !header.AsSpan(equals).ContainsAny('\r', '\n', '\0');
    }

    private static bool IsTokenCharacter(char c) =>
        char.IsAsciiLetterOrDigit(c) || "!#$%&'*+-.^_`|~".Contains(c, StringComparison.Ordinal);
}
