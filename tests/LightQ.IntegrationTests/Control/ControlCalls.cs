using System.Runtime.CompilerServices;
using Google.Protobuf;
using Google.Protobuf.Reflection;
using Grpc.Core;
using Grpc.Net.Client;
using Xunit;

namespace LightQ.IntegrationTests.Control;

/// <summary>Calls of the control plane by the names in the .proto files.</summary>
internal static class ControlCalls
{
    public const string CodeTrailer = "lightq-error-code";

    public static async Task<TResponse> CallAsync<TRequest, TResponse>(
        this GrpcChannel channel,
        string name,
        TRequest request,
        string? token = null
    )
        where TRequest : class, IMessage<TRequest>
        where TResponse : class, IMessage<TResponse>
    {
        using AsyncUnaryCall<TResponse> call = channel
            .CreateCallInvoker()
            .AsyncUnaryCall(Method<TRequest, TResponse>(request, name), null, Options(token), request);
        return await call;
    }

    public static async IAsyncEnumerable<TResponse> StreamAsync<TRequest, TResponse>(
        this GrpcChannel channel,
        string name,
        TRequest request,
        string? token = null,
        [EnumeratorCancellation] CancellationToken cancellationToken = default
    )
        where TRequest : class, IMessage<TRequest>
        where TResponse : class, IMessage<TResponse>
    {
        using AsyncServerStreamingCall<TResponse> call = channel
            .CreateCallInvoker()
            .AsyncServerStreamingCall(Method<TRequest, TResponse>(request, name), null, Options(token), request);
        await foreach (TResponse response in call.ResponseStream.ReadAllAsync(cancellationToken))
            yield return response;
    }

    public static AsyncDuplexStreamingCall<TRequest, TResponse> Duplex<TRequest, TResponse>(
        this GrpcChannel channel,
        string name,
        string? token = null
    )
        where TRequest : class, IMessage<TRequest>, new()
        where TResponse : class, IMessage<TResponse> =>
        channel
            .CreateCallInvoker()
            .AsyncDuplexStreamingCall(Method<TRequest, TResponse>(new TRequest(), name), null, Options(token));

    /// <summary>The next response; null at the end of the call.</summary>
    public static async Task<TResponse?> ReadAsync<TRequest, TResponse>(
        this AsyncDuplexStreamingCall<TRequest, TResponse> call
    )
        where TResponse : class =>
        await call.ResponseStream.MoveNext(TestContext.Current.CancellationToken) ? call.ResponseStream.Current : null;

    /// <summary>Expects a call to fail with this status and, in the trailer, this code.</summary>
    public static async Task<RpcException> FailsAsync(Func<Task> call, StatusCode status, string code)
    {
        RpcException error = await Assert.ThrowsAsync<RpcException>(call);
        Assert.Equal(status, error.StatusCode);
        Assert.Equal(code, error.Trailers.GetValue(CodeTrailer));
        return error;
    }

    private static Method<TRequest, TResponse> Method<TRequest, TResponse>(TRequest request, string name)
        where TRequest : class, IMessage<TRequest>
        where TResponse : class, IMessage<TResponse>
    {
        MethodDescriptor method = request.Descriptor.File.Services[0].FindMethodByName(name);
        MethodType type = (method.IsClientStreaming, method.IsServerStreaming) switch
        {
            (false, false) => MethodType.Unary,
            (false, true) => MethodType.ServerStreaming,
            (true, false) => MethodType.ClientStreaming,
            (true, true) => MethodType.DuplexStreaming,
        };
        return new(
            type,
            method.Service.FullName,
            name,
            Of<TRequest>(method.InputType),
            Of<TResponse>(method.OutputType)
        );
    }

    private static Marshaller<T> Of<T>(MessageDescriptor type)
        where T : class, IMessage<T> =>
        Marshallers.Create(message => message.ToByteArray(), ((MessageParser<T>)type.Parser).ParseFrom);

    private static CallOptions Options(string? token) =>
        new(
            token is null ? null : new Metadata { { "authorization", "Bearer " + token } },
            cancellationToken: TestContext.Current.CancellationToken
        );
}
