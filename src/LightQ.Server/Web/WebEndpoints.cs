using LightQ.Broker;
using LightQ.Broker.Users;
using LightQ.Server.Control;
using LightQ.Server.Json;
using LightQ.Server.Ports;
using LightQ.Server.Security;
using LightQ.Server.Telemetry;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Microsoft.Net.Http.Headers;

namespace LightQ.Server.Web;

/// <summary>
/// The web port: health, metrics and the JSON protocol. Health and metrics are open to every client that reaches the
/// port: they report no topic's failure in words, and metrics only of topics that the caller may see.
/// </summary>
internal sealed class WebEndpoints(FigureSource source, ServerSecurity security, AdminCommands admin)
{
    private const string Text = "text/plain; charset=utf-8",
        Health = "/healthz";

    private readonly HostCheck _hosts = new(source.Limits, security.Authenticator);

    private string DashboardNote =>
        !source.Limits.Options.Dashboard.IsEnabled ? ", which is off (Dashboard:IsEnabled)"
        : DashboardPages.AreInThisBuild ? ""
        : ", which is not in this build (packaging/dashboard makes it)";

    private string Index =>
        $"""
            LightQ {ServerVersion.Text}

            /healthz/live    200 while the process answers
            /healthz/ready   200 while the broker takes work, also degraded, which it tells; 503 with the reason when not
            /metrics         metrics: Prometheus' text, or OpenMetrics for who accepts it
            /v1/...          the control plane in JSON, as /openapi/v1.json describes it, and gRPC-Web
            /                in a browser: the dashboard{DashboardNote}
            /admin           POST: create topics, join them, read their statistics, in JSON

            """;

    /// <summary>Lets a request on that goes to this broker, and whose connection is within the limits.</summary>
    public Task AdmitAsync(HttpContext http, RequestDelegate next)
    {
        http.Response.Headers.XContentTypeOptions = "nosniff"; // Nothing here is to be taken for a page.
        return
            ConnectionGate.RefusalOf(http) is { } refusal
            && !http.Request.Path.StartsWithSegments(Health)
            && !http.Request.Path.StartsWithSegments(CallGate.HealthService)
            ? Answer(http, StatusCodes.Status503ServiceUnavailable, refusal + "\n")
            : _hosts.InvokeAsync(http, next);
    }

    /// <summary>Adds the pages to an application.</summary>
    /// <param name="endpoints">The application.</param>
    /// <param name="gate">What the calls of the control plane pass.</param>
    /// <param name="dataPort">Where clients publish and consume.</param>
    /// <param name="controlPort">Where they find gRPC.</param>
    public void Map(IEndpointRouteBuilder endpoints, CallGate gate, int dataPort, int controlPort)
    {
        new JsonGateway(gate, security).Map(endpoints);
        new AdminEndpoint(admin, source.Limits, dataPort, controlPort).Map(endpoints);
        if (source.Limits.Options.Dashboard.IsEnabled && DashboardPages.AreInThisBuild)
            DashboardPages.Map(endpoints, http => Answer(http, StatusCodes.Status200OK, Index));
        else
            Get(endpoints, "/", http => Answer(http, StatusCodes.Status200OK, Index));
        Get(endpoints, "/healthz/live", http => Answer(http, StatusCodes.Status200OK, "live\n"));
        Get(endpoints, "/healthz/ready", Ready);
        Get(endpoints, "/metrics", Metrics);
    }

    /// <summary>
    /// A failed topic is one topic's trouble, and one that the disk refuses what is beside topics goes on: to take the
    /// broker out of service would take along what works.
    /// </summary>
    private Task Ready(HttpContext http)
    {
        if (source.Readiness.NotReadyReason is { } reason)
            return Answer(http, StatusCodes.Status503ServiceUnavailable, reason + "\n");
        return Answer(http, StatusCodes.Status200OK, source.Degradation.Line() + "\n");
    }

    private async Task Metrics(HttpContext http)
    {
        Principal? principal;
        try
        {
            principal = await WebPrincipal.IdentifyAsync(http, security.Authenticator).ConfigureAwait(false);
        }
        catch (BrokerException e)
        {
            http.Response.Headers.WWWAuthenticate = "Basic realm=\"LightQ\"";
            int status = e.Code switch
            {
                ErrorCode.Unauthenticated => StatusCodes.Status401Unauthorized,
                ErrorCode.PermissionDenied => StatusCodes.Status403Forbidden,
                _ => StatusCodes.Status429TooManyRequests,
            };
            await Answer(http, status, e.Message + "\n").ConfigureAwait(false);
            return;
        }
        bool Sees(string topic) => principal is not null && security.Access.Sees(principal, topic);
        bool seesUsers = principal is not null && security.Access.Allows(principal, Right.Admin, "");
        FigureReading reading = await FigureReading
            .TakeAsync(source, Sees, seesUsers, http.RequestAborted)
            .ConfigureAwait(false);
        MetricsFormat format = MetricsPage.FormatFor(http.Request);
        http.Response.ContentType = MetricsWriter.ContentTypeOf(format);
        http.Response.Headers.Vary = HeaderNames.Accept;
        await http.Response.WriteAsync(MetricsPage.Write(reading, format)).ConfigureAwait(false);
    }

    private static void Get(IEndpointRouteBuilder endpoints, string pattern, RequestDelegate handler) =>
        endpoints.MapMethods(pattern, ["GET", "HEAD"], handler);

    private static Task Answer(HttpContext http, int status, string text)
    {
        http.Response.StatusCode = status;
        http.Response.ContentType = Text;
        http.Response.Headers.CacheControl = "no-store";
        return http.Response.WriteAsync(text);
    }
}
