using LightQ.Broker;
using LightQ.Grpc.AspNetCore;
using LightQ.Protocol;
using LightQ.Server.Security;

namespace LightQ.Server.Control;

/// <summary>Finds out who is calling, and refuses what the method's rule refuses whatever the request says.</summary>
/// <remarks>Who shows two tokens is refused: a proxy in between may go by the other one.</remarks>
internal sealed class AccessInterceptor(Authenticator authenticator, AccessControl access)
{
    public Task InvokeAsync(GrpcServerCallContext context, GrpcServerHandler next)
    {
        if (context.HttpContext.Request.Headers.Authorization.Count > 1)
            throw new BrokerException(ErrorCode.Unauthenticated, $"The metadata \"{BearerToken.MetadataName}\" is there {context.HttpContext.Request.Headers.Authorization.Count} times; allowed: once.");
        RpcRule rule = RpcRules.Find(context.Method)
            ?? throw new BrokerException(ErrorCode.PermissionDenied, $"No rule says who may call {context.Method}, so nobody may.");
        if (rule.Access == RpcAccess.Open)
            return next(context);
        Principal principal = Identify(context);
        if (rule.Access == RpcAccess.Admin)
            access.DemandAdmin(principal);
        CallPrincipal.Set(context, principal);
        return next(context);
    }

    private Principal Identify(GrpcServerCallContext context)
    {
        if (context.RequestMetadata.GetValue(BearerToken.MetadataName) is not null)
        {
            return BearerToken.Read(context) is { } token
                ? authenticator.OfToken(token, Origin.Control(context))
                : throw new BrokerException(ErrorCode.Unauthenticated, "The metadata \"authorization\" holds no token: it is \"Bearer TOKEN\".");
        }
        PeerChannel peer = CallPrincipal.ChannelOf(context);
        return authenticator.OfNothing(peer)
            ?? throw authenticator.LoginDemandOf(peer, "a login (plain gRPC: Auth.Login, and its token as metadata \"authorization: Bearer TOKEN\").");
    }
}
