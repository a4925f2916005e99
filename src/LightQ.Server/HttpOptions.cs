namespace LightQ.Server;

/// <summary>Limits of the control port (gRPC) and the web port (HTTP/1.1).</summary>
public sealed record HttpOptions
{
    /// <summary>Most connections to the control port. Default 4,096.</summary>
    public int MaxControlConnections
    {
        get;
        init =>
            field =
                value >= 1
                    ? value
                    : throw new ArgumentOutOfRangeException(nameof(MaxControlConnections), value, "1 or more");
    } = 4_096;

    /// <summary>Most connections to the web port. Default 512.</summary>
    public int MaxWebConnections
    {
        get;
        init =>
            field =
                value >= 1
                    ? value
                    : throw new ArgumentOutOfRangeException(nameof(MaxWebConnections), value, "1 or more");
    } = 512;

    /// <summary>
    /// Most connections from one address to each of the two ports. 0, the default, is the address's share
    /// (<see cref="LightQ.Broker.BrokerOptions.MaxSharePercent"/>).
    /// </summary>
    public int MaxConnectionsPerAddress
    {
        get;
        init =>
            field =
                value >= 0
                    ? value
                    : throw new ArgumentOutOfRangeException(
                        nameof(MaxConnectionsPerAddress),
                        value,
                        "0 (its share) or more"
                    );
    }

    /// <summary>
    /// Most calls at once on one connection to the control port; more wait in the client. Default 100.
    /// </summary>
    public int MaxStreamsPerConnection
    {
        get;
        init =>
            field = value is >= 1 and <= 100_000
                ? value
                : throw new ArgumentOutOfRangeException(nameof(MaxStreamsPerConnection), value, "1 to 100000");
    } = 100;

    /// <summary>Most calls at once on all connections to the control port. Default 10,000.</summary>
    public int MaxCalls
    {
        get;
        init =>
            field = value >= 1 ? value : throw new ArgumentOutOfRangeException(nameof(MaxCalls), value, "1 or more");
    } = 10_000;

    /// <summary>
    /// Calls a second on one connection to the control port, on average; further calls wait. 0 for any number. Default
    /// 500.
    /// </summary>
    public int MaxCallsPerSecond
    {
        get;
        init =>
            field =
                value >= 0
                    ? value
                    : throw new ArgumentOutOfRangeException(nameof(MaxCallsPerSecond), value, "0 (none) or more");
    } = 500;

    /// <summary>
    /// Most members of groups that <c>Fetch</c> keeps between calls, one for each user, topic and group. Default 1,000.
    /// </summary>
    public int MaxFetchers
    {
        get;
        init =>
            field = value >= 1 ? value : throw new ArgumentOutOfRangeException(nameof(MaxFetchers), value, "1 or more");
    } = 1_000;

    /// <summary>Largest gRPC message in bytes; 0 means as the largest frame, 4 MiB at least. Default 0.</summary>
    public int MaxMessageBytes
    {
        get;
        init =>
            field = value is 0 or (>= 64 * 1024 and <= 128 * 1024 * 1024)
                ? value
                : throw new ArgumentOutOfRangeException(
                    nameof(MaxMessageBytes),
                    value,
                    "0 (as DataPlane:MaxFrameBytes) or 65536 to 134217728"
                );
    }

    /// <summary>
    /// Names under which clients may reach the web port where no login is required, separated by commas, besides
    /// localhost and addresses. <c>*.example.com</c> stands for all names that end so, <c>*</c> for any. Default none.
    /// </summary>
    public string AllowedHosts
    {
        get;
        init =>
            field = value
                .Split(',', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries)
                .All(IsHostPattern)
                ? value
                : throw new ArgumentOutOfRangeException(
                    nameof(AllowedHosts),
                    value,
                    "names of hosts with commas, such as lightq,*.example.com, or * for any"
                );
    } = "";

    /// <summary>
    /// Origins whose pages may call the web port from a browser, separated by commas, such as
    /// <c>https://app.example.com</c>. Default none.
    /// </summary>
    public string AllowedOrigins
    {
        get;
        init =>
            field = value
                .Split(',', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries)
                .All(IsOrigin)
                ? value
                : throw new ArgumentOutOfRangeException(
                    nameof(AllowedOrigins),
                    value,
                    "origins with commas, such as https://app.example.com, each without a path"
                );
    } = "";

    /// <summary>
    /// Most groups that <c>/metrics</c> shows, with eight values each; they are the first by topic and name. Default
    /// 1,000.
    /// </summary>
    public int MaxMetricsGroups
    {
        get;
        init =>
            field =
                value >= 0
                    ? value
                    : throw new ArgumentOutOfRangeException(nameof(MaxMetricsGroups), value, "0 or more");
    } = 1_000;

    /// <summary>
    /// Most fields and entries of lists that a request may have, counted before objects are made of them. Default
    /// 100,000.
    /// </summary>
    public int MaxRequestElements
    {
        get;
        init =>
            field = value is >= 1_000 and <= 10_000_000
                ? value
                : throw new ArgumentOutOfRangeException(nameof(MaxRequestElements), value, "1000 to 10000000");
    } = 100_000;

    /// <summary>Largest body of a request to the web port in bytes. Default 16 KiB.</summary>
    public int MaxRequestBytes
    {
        get;
        init =>
            field = value is >= 1024 and <= 16 * 1024 * 1024
                ? value
                : throw new ArgumentOutOfRangeException(nameof(MaxRequestBytes), value, "1024 to 16777216");
    } = 16 * 1024;

    /// <summary>Largest size of all headers of a request together, in bytes. Default 32 KiB.</summary>
    public int MaxHeaderBytes
    {
        get;
        init =>
            field = value is >= 8 * 1024 and <= 1024 * 1024
                ? value
                : throw new ArgumentOutOfRangeException(nameof(MaxHeaderBytes), value, "8192 to 1048576");
    } = 32 * 1024;

    /// <summary>Time that a client has to send its first bytes, and the headers of a request. Default 10 s.</summary>
    public TimeSpan HeaderTimeout
    {
        get;
        init =>
            field =
                value >= TimeSpan.FromSeconds(1) && value <= TimeSpan.FromMinutes(10)
                    ? value
                    : throw new ArgumentOutOfRangeException(nameof(HeaderTimeout), value, "00:00:01 to 00:10:00");
    } = TimeSpan.FromSeconds(10);

    /// <summary>How long a connection may be without a request. Default 130 s.</summary>
    public TimeSpan IdleTimeout
    {
        get;
        init =>
            field =
                value >= TimeSpan.FromSeconds(1) && value <= TimeSpan.FromDays(1)
                    ? value
                    : throw new ArgumentOutOfRangeException(nameof(IdleTimeout), value, "00:00:01 to 1.00:00:00");
    } = TimeSpan.FromSeconds(130);

    /// <summary>
    /// Lowest average rate at which the body of a request must arrive after its first 5 s, in bytes a second; streaming
    /// calls are exempt. 0 for no limit. Default 240.
    /// </summary>
    public int MinBodyBytesPerSecond
    {
        get;
        init =>
            field =
                value >= 0
                    ? value
                    : throw new ArgumentOutOfRangeException(nameof(MinBodyBytesPerSecond), value, "0 (none) or more");
    } = 240;

    /// <summary>
    /// How long a request may take from its beginning to its end, and a message of a stream of requests. Default 1
    /// min.
    /// </summary>
    public TimeSpan BodyTimeout
    {
        get;
        init =>
            field =
                value >= TimeSpan.FromSeconds(1) && value <= TimeSpan.FromHours(1)
                    ? value
                    : throw new ArgumentOutOfRangeException(nameof(BodyTimeout), value, "00:00:01 to 01:00:00");
    } = TimeSpan.FromMinutes(1);

    private static bool IsOrigin(string text) =>
        Uri.TryCreate(text, UriKind.Absolute, out Uri? uri)
        && uri.Scheme is "http" or "https"
        && uri.GetLeftPart(UriPartial.Authority) == text;

    private static bool IsHostPattern(string name)
    {
        string host = name.StartsWith("*.", StringComparison.Ordinal) ? name[2..] : name;
        return name == "*" || Uri.CheckHostName(host) == UriHostNameType.Dns;
    }
}
