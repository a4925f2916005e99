using LightQ.Broker;
using LightQ.Server.Security;
using Microsoft.AspNetCore.Http;

namespace LightQ.Server.Control;

/// <summary>What the control plane has of the other nodes of the cluster.</summary>
internal interface INodes
{
    /// <summary>On whose behalf another node calls; null when no node does.</summary>
    /// <exception cref="BrokerException">
    /// <see cref="ErrorCode.Unauthenticated"/>: who calls says that it is a node, and is none.
    /// </exception>
    Principal? Identify(HttpContext http, string method);

    /// <summary>How a method's calls are forwarded; null when each node answers for itself.</summary>
    Forward<TRequest, TResponse>? Find<TRequest, TResponse>(string method)
        where TRequest : class
        where TResponse : class;

    /// <summary>Likewise of a method with streams.</summary>
    IStreamForward<TRequest, TResponse>? FindStream<TRequest, TResponse>(string method)
        where TRequest : class
        where TResponse : class;
}
