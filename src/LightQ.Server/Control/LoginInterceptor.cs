using LightQ.Grpc.AspNetCore;
using LightQ.Protocol;
using LightQ.Server.Security;

namespace LightQ.Server.Control;

/// <summary>Lets a call pass when its token is in force, or when it has none and anonymous clients are allowed.</summary>
internal sealed class LoginInterceptor(Authenticator authenticator)
{
    /// <summary>Served to everyone: how to log in, and what monitors and tools ask before they do.</summary>
    private static readonly string[] OpenMethods = ["/lightq.control.v1.Auth/Login", "/grpc.health.v1.Health/", "/grpc.reflection."];

    public Task InvokeAsync(GrpcServerCallContext context, GrpcServerHandler next)
    {
        if (Array.Exists(OpenMethods, open => context.Method.StartsWith(open, StringComparison.Ordinal)))
            return next(context);
        if (context.RequestMetadata.GetValue(BearerToken.MetadataName) is null)
        {
            return authenticator.AllowsAnonymous
                ? next(context)
                : throw ControlErrors.Make(ErrorCode.Unauthenticated, "This broker requires a login: call Auth.Login and send its token as metadata \"authorization: Bearer TOKEN\".");
        }
        return BearerToken.Read(context) is { } token && authenticator.IsValid(token)
            ? next(context)
            : throw ControlErrors.Make(ErrorCode.Unauthenticated, "The token is unknown or has expired: call Auth.Login for a new one.");
    }
}
