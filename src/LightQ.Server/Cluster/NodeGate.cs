using LightQ.Broker;
using LightQ.Server.Control;
using LightQ.Server.Security;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Primitives;

namespace LightQ.Server.Cluster;

/// <summary>Tells the calls of other nodes from those of clients.</summary>
internal sealed class NodeGate(NodeTokens tokens, ISecurityEvents events)
{
    /// <summary>On whose behalf another node calls; null when no node does.</summary>
    /// <exception cref="BrokerException">
    /// <see cref="ErrorCode.Unauthenticated"/>: who calls says that it is a node, and is none.
    /// </exception>
    public Principal? Find(HttpContext http, string method)
    {
        StringValues shown = http.Request.Headers[NodeTokens.MetadataName];
        if (shown.Count == 0)
            return null;
        try
        {
            if (shown.Count != 1 || http.Request.Headers.Authorization.Count != 0)
            {
                throw new BrokerException(
                    ErrorCode.Unauthenticated,
                    $"The metadata \"{NodeTokens.MetadataName}\" is there more than once, or beside "
                        + $"\"{BearerToken.MetadataName}\"; allowed: one of them, once."
                );
            }
            Principal caller = tokens.Verify(shown.ToString(), method);
            ForwardedCall.Mark(http);
            return caller;
        }
        catch (BrokerException e) when (e.Code == ErrorCode.Unauthenticated)
        {
            Origin origin = Origin.Control(CallPrincipal.ChannelOf(http));
            events.Raise(new SecurityEvent(SecurityAction.LoginRefused, "", origin, Detail: "node"));
            throw;
        }
    }
}
