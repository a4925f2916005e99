using System.Diagnostics;
using System.Globalization;
using LightQ.Server.Control;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;
using Microsoft.AspNetCore.Routing;

namespace LightQ.Server.Telemetry;

/// <summary>
/// A span for each call of the control plane, while a listener is registered. It has names and numbers of ours only,
/// nothing that a caller wrote.
/// </summary>
internal sealed class CallSpans : IDisposable
{
    private const string StatusName = "grpc-status";

    // Statuses that are a fault of the server, by the conventions for gRPC: unknown, deadline exceeded, unimplemented,
    // internal, unavailable, data loss.
    private static readonly int[] Faults = [2, 4, 12, 13, 14, 15];

    private const int Cancelled = 1;

    /// <summary>The source.</summary>
    public ActivitySource Source { get; } = new(LightQServerTelemetry.ActivitySourceName, ServerVersion.Text);

    /// <summary>Passes a call on, in a span of its own if a listener is registered.</summary>
    public Task InvokeAsync(HttpContext http, RequestDelegate next) =>
        Source.HasListeners() ? TraceAsync(http, next) : next(http);

    /// <inheritdoc/>
    public void Dispose() => Source.Dispose();

    private async Task TraceAsync(HttpContext http, RequestDelegate next)
    {
        using Activity? span = Begin(http);
        try
        {
            await next(http).ConfigureAwait(false);
        }
        catch (Exception e)
        {
            span?.SetTag("error.type", e.GetType().FullName).SetStatus(ActivityStatusCode.Error);
            throw;
        }
        if (span is not null)
            End(span, http);
    }

    private Activity? Begin(HttpContext http)
    {
        ActivityContext parent = default;
        // ASP.NET Core's own activity is the parent where somebody sees it. It is there without a listener, too: then
        // the caller's is.
        if (Activity.Current is not { } current || !current.Source.HasListeners())
        {
            Activity.Current = null;
            _ = ActivityContext.TryParse(
                http.Request.Headers.TraceParent,
                http.Request.Headers.TraceState,
                isRemote: true,
                out parent
            );
        }
        (string service, string method) = NameOf(http.GetEndpoint());
        ActivityTagsCollection tags = new()
        {
            ["rpc.system"] = "grpc",
            ["rpc.service"] = service,
            ["rpc.method"] = method,
            ["server.port"] = http.Connection.LocalPort,
        };
        string name = service.Length == 0 ? method : $"{service}/{method}";
        return Source.StartActivity(name, ActivityKind.Server, parent, tags);
    }

    /// <summary>The names of a method that there is. Of others the name is what a caller made up, and is not
    /// taken.</summary>
    private static (string Service, string Method) NameOf(Endpoint? endpoint)
    {
        const string Other = "_OTHER";
        return
            endpoint is RouteEndpoint { RoutePattern: { Parameters.Count: 0, RawText: { } path } }
            && path.Trim('/').Split('/') is [var service, var method]
            ? (service, method)
            : ("", Other);
    }

    private static void End(Activity span, HttpContext http)
    {
        string? text = Trailing(http, StatusName);
        int? status =
            int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out int code) ? code
            : http.RequestAborted.IsCancellationRequested ? Cancelled
            : null;
        if (status is null)
            return;
        span.SetTag("rpc.grpc.status_code", status.Value);
        if (status == 0)
            return;
        span.SetTag(
            "error.type",
            Trailing(http, ControlErrors.CodeTrailer) ?? status.Value.ToString(CultureInfo.InvariantCulture)
        );
        if (Faults.Contains(status.Value))
            span.SetStatus(ActivityStatusCode.Error);
    }

    /// <summary>A trailer; of a call that failed before it answered it is among the headers.</summary>
    private static string? Trailing(HttpContext http, string name)
    {
        string? trailer = http.Features.Get<IHttpResponseTrailersFeature>()?.Trailers[name];
        return trailer ?? http.Response.Headers[name];
    }
}
