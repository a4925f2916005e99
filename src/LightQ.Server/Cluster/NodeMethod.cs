using Google.Protobuf;
using Grpc.Core;

namespace LightQ.Server.Cluster;

/// <summary>Methods of the control plane as they are called.</summary>
internal static class NodeMethod
{
    /// <summary>A method by its full name.</summary>
    /// <param name="type">Which sides are streams.</param>
    /// <param name="name"><c>/package.Service/Method</c>.</param>
    public static Method<TRequest, TResponse> Of<TRequest, TResponse>(MethodType type, string name)
        where TRequest : class, IMessage<TRequest>, new()
        where TResponse : class, IMessage<TResponse>, new()
    {
        int service = name.LastIndexOf('/');
        return new Method<TRequest, TResponse>(
            type,
            name[1..service],
            name[(service + 1)..],
            MarshallerOf<TRequest>(),
            MarshallerOf<TResponse>()
        );
    }

    private static Marshaller<T> MarshallerOf<T>()
        where T : class, IMessage<T>, new()
    {
        var parser = new MessageParser<T>(static () => new T());
        return Marshallers.Create<T>(static m => m.ToByteArray(), parser.ParseFrom);
    }
}
