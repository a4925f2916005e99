using Google.Protobuf;
using Google.Protobuf.Reflection;
using LightQ.Grpc.AspNetCore.Calls;

namespace LightQ.Grpc.AspNetCore;

/// <summary>Binds the methods of one service to handlers. Each method is bound once, with its own shape and message types.</summary>
public sealed class GrpcServiceBuilder
{
    private readonly ServiceDescriptor _service;
    private readonly Dictionary<string, GrpcBinding> _bindings = [];

    internal GrpcServiceBuilder(ServiceDescriptor service) => _service = service;

    /// <summary>Binds a method with one request and one response.</summary>
    /// <param name="name">The method's name in the .proto file.</param>
    /// <param name="handler">Answers a request.</param>
    public GrpcServiceBuilder Unary<TRequest, TResponse>(string name, Func<TRequest, GrpcServerCallContext, Task<TResponse>> handler)
        where TRequest : class, IMessage<TRequest>
        where TResponse : class, IMessage<TResponse>
    {
        ArgumentNullException.ThrowIfNull(handler);
        GrpcMethod<TRequest, TResponse> method = Method<TRequest, TResponse>(name, GrpcMethodType.Unary);
        return Bind(name, method, async context =>
        {
            TRequest request = await GrpcRequestMessages.ReadSingleAsync(context, method.RequestParser).ConfigureAwait(false);
            GrpcMessageWriter.Write(context, await handler(request, context).ConfigureAwait(false));
        });
    }

    /// <summary>Binds a method with a stream of requests and one response.</summary>
    /// <param name="name">The method's name in the .proto file.</param>
    /// <param name="handler">Enumerates the requests, at most once, and answers; it need not read them all.</param>
    public GrpcServiceBuilder ClientStreaming<TRequest, TResponse>(
        string name, Func<IAsyncEnumerable<TRequest>, GrpcServerCallContext, Task<TResponse>> handler)
        where TRequest : class, IMessage<TRequest>
        where TResponse : class, IMessage<TResponse>
    {
        ArgumentNullException.ThrowIfNull(handler);
        GrpcMethod<TRequest, TResponse> method = Method<TRequest, TResponse>(name, GrpcMethodType.ClientStreaming);
        return Bind(name, method, async context =>
        {
            IAsyncEnumerable<TRequest> requests = GrpcRequestMessages.ReadAllAsync(context, method.RequestParser);
            GrpcMessageWriter.Write(context, await handler(requests, context).ConfigureAwait(false));
        });
    }

    /// <summary>Binds a method with one request and a stream of responses.</summary>
    /// <param name="name">The method's name in the .proto file.</param>
    /// <param name="handler">Writes the responses; the call ends when it returns.</param>
    public GrpcServiceBuilder ServerStreaming<TRequest, TResponse>(
        string name, Func<TRequest, GrpcResponseStream<TResponse>, GrpcServerCallContext, Task> handler)
        where TRequest : class, IMessage<TRequest>
        where TResponse : class, IMessage<TResponse>
    {
        ArgumentNullException.ThrowIfNull(handler);
        GrpcMethod<TRequest, TResponse> method = Method<TRequest, TResponse>(name, GrpcMethodType.ServerStreaming);
        return Bind(name, method, async context =>
        {
            TRequest request = await GrpcRequestMessages.ReadSingleAsync(context, method.RequestParser).ConfigureAwait(false);
            await handler(request, new GrpcResponseStream<TResponse>(context), context).ConfigureAwait(false);
        });
    }

    /// <summary>Binds a method with a stream of requests and a stream of responses.</summary>
    /// <param name="name">The method's name in the .proto file.</param>
    /// <param name="handler">Enumerates the requests, at most once, and writes the responses; the call ends when it returns.</param>
    public GrpcServiceBuilder DuplexStreaming<TRequest, TResponse>(
        string name, Func<IAsyncEnumerable<TRequest>, GrpcResponseStream<TResponse>, GrpcServerCallContext, Task> handler)
        where TRequest : class, IMessage<TRequest>
        where TResponse : class, IMessage<TResponse>
    {
        ArgumentNullException.ThrowIfNull(handler);
        GrpcMethod<TRequest, TResponse> method = Method<TRequest, TResponse>(name, GrpcMethodType.DuplexStreaming);
        return Bind(name, method, context => handler(
            GrpcRequestMessages.ReadAllAsync(context, method.RequestParser), new GrpcResponseStream<TResponse>(context), context));
    }

    /// <summary>All bindings, once every method of the service has one.</summary>
    internal IEnumerable<GrpcBinding> Build()
    {
        string[] unbound = [.. _service.Methods.Select(m => m.Name).Where(name => !_bindings.ContainsKey(name))];
        return unbound.Length == 0
            ? _bindings.Values
            : throw new InvalidOperationException($"The service {_service.FullName} has methods without a handler: {string.Join(", ", unbound)}.");
    }

    private GrpcMethod<TRequest, TResponse> Method<TRequest, TResponse>(string name, GrpcMethodType type)
        where TRequest : class, IMessage<TRequest>
        where TResponse : class, IMessage<TResponse>
    {
        GrpcMethod<TRequest, TResponse> method = GrpcMethod.Create<TRequest, TResponse>(_service, name);
        return method.Type == type
            ? method
            : throw new ArgumentException($"{method.FullName} is {method.Type} and cannot be bound as {type}.", nameof(name));
    }

    private GrpcServiceBuilder Bind<TRequest, TResponse>(string name, GrpcMethod<TRequest, TResponse> method, GrpcServerHandler handler)
        where TRequest : class, IMessage<TRequest>
        where TResponse : class, IMessage<TResponse>
    {
        if (!_bindings.TryAdd(name, new GrpcBinding(method.FullName, method.Type, handler)))
            throw new ArgumentException($"{method.FullName} is bound twice.", nameof(name));
        return this;
    }
}
