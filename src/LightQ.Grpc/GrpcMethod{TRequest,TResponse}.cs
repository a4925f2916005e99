using Google.Protobuf;
using Google.Protobuf.Reflection;

namespace LightQ.Grpc;

/// <summary>A method as both sides see it: its path, its shape, and how its messages are parsed. Immutable; make one per method.</summary>
/// <typeparam name="TRequest">The generated request message.</typeparam>
/// <typeparam name="TResponse">The generated response message.</typeparam>
public sealed class GrpcMethod<TRequest, TResponse>
    where TRequest : class, IMessage<TRequest>
    where TResponse : class, IMessage<TResponse>
{
    internal GrpcMethod(MethodDescriptor descriptor, MessageParser<TRequest> requestParser, MessageParser<TResponse> responseParser)
    {
        Descriptor = descriptor;
        FullName = $"/{descriptor.Service.FullName}/{descriptor.Name}";
        Type = GrpcMethod.TypeOf(descriptor);
        RequestParser = requestParser;
        ResponseParser = responseParser;
    }

    /// <summary>The HTTP path: <c>/package.Service/Method</c>.</summary>
    public string FullName { get; }

    /// <summary>Which sides are streams.</summary>
    public GrpcMethodType Type { get; }

    /// <summary>What protoc knows about the method.</summary>
    public MethodDescriptor Descriptor { get; }

    /// <summary>Parses requests.</summary>
    public MessageParser<TRequest> RequestParser { get; }

    /// <summary>Parses responses.</summary>
    public MessageParser<TResponse> ResponseParser { get; }

    /// <inheritdoc/>
    public override string ToString() => FullName;
}
