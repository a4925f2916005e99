using Microsoft.AspNetCore.Http;

namespace LightQ.Server.Ports;

/// <summary>
/// Answers a client that came to the wrong one of the two ports. What speaks the wrong HTTP version, Kestrel answers
/// itself.
/// </summary>
internal static class WrongPort
{
    public static Task Check(HttpContext http, int controlPort, int webPort, RequestDelegate next)
    {
        bool control = http.Connection.LocalPort == controlPort;
        string type = http.Request.ContentType ?? "";
        bool grpc =
            type.StartsWith("application/grpc", StringComparison.OrdinalIgnoreCase)
            && (control || !type.StartsWith("application/grpc-web", StringComparison.OrdinalIgnoreCase));
        if (grpc == control)
            return control || TlsGate.ProblemOf(http) is not { } problem ? next(http) : Forbid(http, problem);
        http.Response.StatusCode = grpc
            ? StatusCodes.Status421MisdirectedRequest
            : StatusCodes.Status415UnsupportedMediaType;
        http.Response.ContentType = "text/plain; charset=utf-8";
        return http.Response.WriteAsync(
            grpc
                ? $"This port serves health and metrics over HTTP/1.1. gRPC is on port {controlPort}.\n"
                : $"This port serves gRPC. Health and metrics are on port {webPort}.\n"
        );
    }

    /// <summary>On the control port it is a call's status that says so.</summary>
    private static Task Forbid(HttpContext http, string problem)
    {
        http.Response.StatusCode = StatusCodes.Status403Forbidden;
        http.Response.ContentType = "text/plain; charset=utf-8";
        return http.Response.WriteAsync($"{problem}\n");
    }
}
