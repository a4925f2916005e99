using Google.Protobuf;
using LightQ.Grpc;
using Xunit;

namespace LightQ.IntegrationTests.Control;

/// <summary>Calls of the control plane by the names in the .proto files.</summary>
internal static class ControlCalls
{
    public const string CodeTrailer = "lightq-error-code";

    public static Task<TResponse> CallAsync<TRequest, TResponse>(this GrpcChannel channel, string name, TRequest request, string? token = null)
        where TRequest : class, IMessage<TRequest>
        where TResponse : class, IMessage<TResponse> =>
        channel.UnaryAsync(Method<TRequest, TResponse>(request, name), request, Bearer(token), TestContext.Current.CancellationToken);

    public static IAsyncEnumerable<TResponse> StreamAsync<TRequest, TResponse>(this GrpcChannel channel, string name, TRequest request, string? token = null)
        where TRequest : class, IMessage<TRequest>
        where TResponse : class, IMessage<TResponse> =>
        channel.ServerStreaming(Method<TRequest, TResponse>(request, name), request, Bearer(token), TestContext.Current.CancellationToken);

    public static GrpcDuplexStreamingCall<TRequest, TResponse> Duplex<TRequest, TResponse>(this GrpcChannel channel, string name, string? token = null)
        where TRequest : class, IMessage<TRequest>, new()
        where TResponse : class, IMessage<TResponse> =>
        channel.DuplexStreaming(Method<TRequest, TResponse>(new TRequest(), name), Bearer(token), TestContext.Current.CancellationToken);

    /// <summary>Expects a call to fail with this status and, in the trailer, this code.</summary>
    public static async Task<GrpcException> FailsAsync(Func<Task> call, GrpcStatusCode status, string code)
    {
        GrpcException error = await Assert.ThrowsAsync<GrpcException>(call);
        Assert.Equal(status, error.Status.Code);
        Assert.Equal(code, error.Trailers.GetValue(CodeTrailer));
        return error;
    }

    private static GrpcMethod<TRequest, TResponse> Method<TRequest, TResponse>(TRequest request, string name)
        where TRequest : class, IMessage<TRequest>
        where TResponse : class, IMessage<TResponse> =>
        GrpcMethod.Create<TRequest, TResponse>(request.Descriptor.File.Services[0], name);

    private static GrpcCallOptions? Bearer(string? token) => token is null ? null : new() { Metadata = new() { { "authorization", "Bearer " + token } } };
}
