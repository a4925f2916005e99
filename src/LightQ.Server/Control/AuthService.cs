using Google.Protobuf.WellKnownTypes;
using LightQ.Grpc.AspNetCore;
using LightQ.Protocol;
using LightQ.Protocol.Control;
using LightQ.Server.Security;
using Microsoft.Extensions.Logging;

namespace LightQ.Server.Control;

/// <summary>Serves <c>lightq.control.v1.Auth</c>.</summary>
internal sealed class AuthService(Authenticator authenticator, ILogger logger)
{
    public void Bind(GrpcServiceBuilder service) => service
        .Unary<LoginRequest, LoginResponse>("Login", Login)
        .Unary<LogoutRequest, LogoutResponse>("Logout", Logout);

    private Task<LoginResponse> Login(LoginRequest request, GrpcServerCallContext context)
    {
        if (authenticator.Login(request.User, request.Password) is not { } login)
        {
            ServerLog.LoginRefused(logger, context.Peer);
            throw ControlErrors.Make(ErrorCode.Unauthenticated, "User or password is wrong.");
        }
        return Task.FromResult(new LoginResponse { Token = login.Token, ExpireTime = login.Expires.ToTimestamp() });
    }

    private Task<LogoutResponse> Logout(LogoutRequest request, GrpcServerCallContext context)
    {
        string token = BearerToken.Read(context)
            ?? throw ControlErrors.Make(ErrorCode.Unauthenticated, "There is no token to revoke: send it as metadata \"authorization: Bearer TOKEN\".");
        authenticator.Revoke(token);
        return Task.FromResult(new LogoutResponse());
    }
}
