using Google.Protobuf;
using Google.Protobuf.Reflection;

namespace LightQ.Grpc;

/// <summary>Makes typed methods from the descriptors that protoc generates.</summary>
public static class GrpcMethod
{
    /// <summary>The method of a descriptor.</summary>
    /// <exception cref="ArgumentException">The message types are not those of the descriptor.</exception>
    public static GrpcMethod<TRequest, TResponse> Create<TRequest, TResponse>(MethodDescriptor descriptor)
        where TRequest : class, IMessage<TRequest>
        where TResponse : class, IMessage<TResponse>
    {
        ArgumentNullException.ThrowIfNull(descriptor);
        return new GrpcMethod<TRequest, TResponse>(
            descriptor, ParserOf<TRequest>(descriptor, descriptor.InputType), ParserOf<TResponse>(descriptor, descriptor.OutputType));
    }

    /// <summary>The method of this name in a service.</summary>
    /// <exception cref="ArgumentException">The service has no such method, or its message types are others.</exception>
    public static GrpcMethod<TRequest, TResponse> Create<TRequest, TResponse>(ServiceDescriptor service, string name)
        where TRequest : class, IMessage<TRequest>
        where TResponse : class, IMessage<TResponse>
    {
        ArgumentNullException.ThrowIfNull(service);
        MethodDescriptor descriptor = service.FindMethodByName(name)
            ?? throw new ArgumentException($"The service {service.FullName} has no method '{name}'.", nameof(name));
        return Create<TRequest, TResponse>(descriptor);
    }

    internal static GrpcMethodType TypeOf(MethodDescriptor descriptor) => (descriptor.IsClientStreaming, descriptor.IsServerStreaming) switch
    {
        (false, false) => GrpcMethodType.Unary,
        (true, false) => GrpcMethodType.ClientStreaming,
        (false, true) => GrpcMethodType.ServerStreaming,
        (true, true) => GrpcMethodType.DuplexStreaming,
    };

    private static MessageParser<T> ParserOf<T>(MethodDescriptor method, MessageDescriptor message)
        where T : class, IMessage<T> =>
        message.Parser as MessageParser<T>
        ?? throw new ArgumentException($"The method {method.FullName} has the message {message.FullName} where {typeof(T).Name} was given.");
}
