namespace LightQ.Bench.Nats;

/// <summary>Where a NATS server is.</summary>
internal static class NatsAddress
{
    private const int DefaultPort = 4222;

    /// <summary>Reads <c>nats://host:port</c> into host:port.</summary>
    /// <exception cref="ArgumentException">It is not of that form.</exception>
    public static string Parse(string url) =>
        Uri.TryCreate(url, UriKind.Absolute, out Uri? uri) && uri.Scheme == "nats" && uri.Host.Length > 0
            ? $"{uri.Host}:{(uri.Port < 0 ? DefaultPort : uri.Port)}"
            : throw new ArgumentException($"'{url}' is not of the form nats://HOST:PORT.", nameof(url));
}
