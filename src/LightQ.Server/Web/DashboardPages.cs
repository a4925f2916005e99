using System.IO.Compression;
using System.Reflection;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Microsoft.Net.Http.Headers;

namespace LightQ.Server.Web;

/// <summary>
/// Serves the dashboard: files that are compressed in this assembly, and that nobody reads before a browser asks. They
/// hold nothing of a broker; what the page shows it gets by calls that meet the rules of every client.
/// </summary>
internal static class DashboardPages
{
    private const string Folder = "dashboard/",
        Suffix = ".br",
        Page = "index.html",
        Brotli = "br";

    /// <summary>
    /// Nothing from elsewhere and no script in the page. WebAssembly needs its own permission to be compiled; the
    /// components set attributes <c>style</c>.
    /// </summary>
    private const string Policy =
        "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; "
        + "img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'self'; form-action 'none'; "
        + "frame-ancestors 'none'";

    private static readonly Assembly Files = typeof(DashboardPages).Assembly;

    /// <summary>Addresses of the page itself, which finds out by them what it is to show.</summary>
    private static readonly string[] Pages =
    [
        "topics",
        "groups",
        "connections",
        "users",
        "cluster",
        "audit",
        "settings",
    ];

    /// <summary>Addresses of what the page is made of.</summary>
    private static readonly string[] Others =
    [
        "/_framework/{**rest}",
        "/_content/{**rest}",
        "/app.css",
        "/favicon.svg",
        "/visibility.js",
    ];

    private static readonly Dictionary<string, string> ContentTypes = new()
    {
        [".css"] = "text/css; charset=utf-8",
        [".html"] = "text/html; charset=utf-8",
        [".js"] = "text/javascript; charset=utf-8",
        [".json"] = "application/json",
        [".svg"] = "image/svg+xml",
        [".wasm"] = "application/wasm",
    };

    // An assembly's identity is made from what is in it.
    private static readonly string Version = $"W/\"{Files.ManifestModule.ModuleVersionId:N}\"";

    /// <summary>Whether the files were there when this assembly was built.</summary>
    public static bool AreInThisBuild { get; } = Files.GetManifestResourceInfo(NameOf(Page)) is not null;

    /// <summary>Adds the files to the web port.</summary>
    /// <param name="endpoints">The web port.</param>
    /// <param name="other">Answers who asks for the root and wants no page for browsers.</param>
    public static void Map(IEndpointRouteBuilder endpoints, RequestDelegate other)
    {
        string[] methods = ["GET", "HEAD"];
        endpoints.MapMethods("/", methods, http => WantsPage(http.Request) ? SendAsync(http, Page) : OtherAsync(http));
        foreach (string page in Pages)
            endpoints.MapMethods($"/{page}/{{**rest}}", methods, http => SendAsync(http, Page));
        foreach (string file in Others)
            endpoints.MapMethods(file, methods, http => SendAsync(http, http.Request.Path.Value![1..]));

        Task OtherAsync(HttpContext http)
        {
            http.Response.Headers.Vary = HeaderNames.Accept;
            return other(http);
        }
    }

    private static string NameOf(string file) => Folder + file + Suffix;

    private static bool WantsPage(HttpRequest request) =>
        request.Headers.Accept.ToString().Contains("text/html", StringComparison.OrdinalIgnoreCase);

    private static async Task SendAsync(HttpContext http, string file)
    {
        HttpResponse response = http.Response;
        await using Stream? stream = Files.GetManifestResourceStream(NameOf(file));
        if (stream is null)
        {
            response.StatusCode = StatusCodes.Status404NotFound;
            return;
        }

        IHeaderDictionary headers = response.Headers;
        headers.ContentSecurityPolicy = Policy;
        headers.XContentTypeOptions = "nosniff";
        headers["Referrer-Policy"] = "no-referrer";
        headers["Cross-Origin-Opener-Policy"] = "same-origin";
        headers["Cross-Origin-Resource-Policy"] = "same-origin";
        headers.CacheControl = "no-cache";
        headers.ETag = Version;
        headers.Vary =
            file == Page ? $"{HeaderNames.Accept}, {HeaderNames.AcceptEncoding}" : HeaderNames.AcceptEncoding;
        if (http.Request.Headers.IfNoneMatch.ToString() == Version)
        {
            response.StatusCode = StatusCodes.Status304NotModified;
            return;
        }

        response.ContentType = ContentTypes.GetValueOrDefault(Path.GetExtension(file), "application/octet-stream");
        bool asIs = TakesBrotli(http.Request);
        if (asIs)
        {
            headers.ContentEncoding = Brotli;
            response.ContentLength = stream.Length;
        }

        if (HttpMethods.IsHead(http.Request.Method))
            return;
        if (asIs)
        {
            await stream.CopyToAsync(response.Body, http.RequestAborted).ConfigureAwait(false);
            return;
        }

        // A browser takes brotli only over TLS or from its own machine.
        await using var plain = new BrotliStream(stream, CompressionMode.Decompress);
        await plain.CopyToAsync(response.Body, http.RequestAborted).ConfigureAwait(false);
    }

    private static bool TakesBrotli(HttpRequest request) =>
        StringWithQualityHeaderValue.TryParseList(
            request.Headers.AcceptEncoding,
            out IList<StringWithQualityHeaderValue>? found
        ) && found.Any(e => e.Value.Equals(Brotli, StringComparison.OrdinalIgnoreCase) && e.Quality is not 0);
}
