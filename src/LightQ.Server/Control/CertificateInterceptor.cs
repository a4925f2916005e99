using LightQ.Grpc.AspNetCore;
using LightQ.Protocol;
using LightQ.Server.Hosting;

namespace LightQ.Server.Control;

/// <summary>Refuses every call of a client whose certificate is missing or not valid, also those that need no login.</summary>
internal static class CertificateInterceptor
{
    public static Task InvokeAsync(GrpcServerCallContext context, GrpcServerHandler next) =>
        TlsGate.ProblemOf(context.HttpContext) is { } problem ? throw ControlErrors.Make(ErrorCode.TlsFailed, $"TLS: {problem}.") : next(context);
}
