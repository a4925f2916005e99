using Google.Protobuf;
using LightQ.Grpc.AspNetCore;
using LightQ.Server.Security;

namespace LightQ.Server.Control;

/// <summary>Binds the methods of a service to handlers that are called only when the method's rule allows the request.</summary>
internal sealed class RuledServiceBuilder(GrpcServiceBuilder service, string serviceName, AccessControl access)
{
    /// <summary>Binds a method with one request and one response.</summary>
    public RuledServiceBuilder Unary<TRequest, TResponse>(string name, Func<TRequest, GrpcServerCallContext, Task<TResponse>> handler)
        where TRequest : class, IMessage<TRequest>
        where TResponse : class, IMessage<TResponse>
    {
        RpcRule rule = RuleOf(name);
        service.Unary<TRequest, TResponse>(name, (request, context) =>
        {
            Demand(rule, request, context);
            return handler(request, context);
        });
        return this;
    }

    /// <summary>Binds a method with one request and a stream of responses.</summary>
    public RuledServiceBuilder ServerStreaming<TRequest, TResponse>(string name, Func<TRequest, GrpcResponseStream<TResponse>, GrpcServerCallContext, Task> handler)
        where TRequest : class, IMessage<TRequest>
        where TResponse : class, IMessage<TResponse>
    {
        RpcRule rule = RuleOf(name);
        service.ServerStreaming<TRequest, TResponse>(name, (request, responses, context) =>
        {
            Demand(rule, request, context);
            return handler(request, responses, context);
        });
        return this;
    }

    /// <summary>Binds a method with a stream of requests and one of responses. The handler gets the rule's right, to demand it for the first request's topic.</summary>
    public RuledServiceBuilder DuplexStreaming<TRequest, TResponse>(
        string name, Func<IAsyncEnumerable<TRequest>, GrpcResponseStream<TResponse>, CallAccess, GrpcServerCallContext, Task> handler)
        where TRequest : class, IMessage<TRequest>
        where TResponse : class, IMessage<TResponse>
    {
        RpcRule rule = RuleOf(name);
        if (rule.Access != RpcAccess.Stream)
            throw new ArgumentException($"The rule of {serviceName}/{name} is {rule.Access}; allowed for a stream of requests: {RpcAccess.Stream}.", nameof(name));
        service.DuplexStreaming<TRequest, TResponse>(
            name, (requests, responses, context) => handler(requests, responses, new CallAccess(access, CallPrincipal.Of(context), rule.Right), context));
        return this;
    }

    private RpcRule RuleOf(string name) =>
        RpcRules.Find($"/{serviceName}/{name}") ?? throw new ArgumentException($"No rule says who may call {serviceName}/{name}.", nameof(name));

    private void Demand(RpcRule rule, IMessage request, GrpcServerCallContext context)
    {
        switch (rule.Access)
        {
            case RpcAccess.Open or RpcAccess.LoggedIn or RpcAccess.Admin: // The interceptor has seen to it.
                break;
            case RpcAccess.Topic:
                access.Demand(CallPrincipal.Of(context), rule.Right, rule.TopicOf!(request));
                break;
            case RpcAccess.Sight:
                access.DemandSight(CallPrincipal.Of(context), rule.TopicOf!(request));
                break;
            case RpcAccess.FilteredSight:
                string topic = rule.TopicOf!(request);
                if (topic.Length != 0)
                    access.DemandSight(CallPrincipal.Of(context), topic);
                break;
            default:
                throw new InvalidOperationException($"{rule.Access} is no rule of a method with one request.");
        }
    }
}
