using Grpc.Core;
using LightQ.Broker;
using LightQ.Broker.Streams;
using LightQ.Broker.Users;

namespace LightQ.Server.Security;

/// <summary>The right that a call with a stream of requests needs, and its caller.</summary>
internal sealed record CallAccess(AccessControl Access, Principal Principal, Right Right)
{
    /// <summary>What the rule of a call demands.</summary>
    public static CallAccess Of(ServerCallContext context, AccessControl access) =>
        new(access, CallPrincipal.Of(context), RpcRules.Find(context.Method)!.Right);

    /// <summary>Demands the right for the topic that is to be opened.</summary>
    /// <exception cref="BrokerException">It is missing.</exception>
    public void Demand(string topic) => Access.Demand(Principal, Right, topic);

    /// <summary>Ends a stream of the call that may not go on.</summary>
    public void Review(string topic, OutputStream stream) => Access.Review(Principal, Right, topic, stream);
}
