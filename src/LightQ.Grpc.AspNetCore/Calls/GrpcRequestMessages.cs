using Google.Protobuf;

namespace LightQ.Grpc.AspNetCore.Calls;

/// <summary>Reads the requests of a call.</summary>
internal static class GrpcRequestMessages
{
    /// <summary>The request of a method that takes exactly one.</summary>
    public static async ValueTask<T> ReadSingleAsync<T>(GrpcServerCallContext context, MessageParser<T> parser)
        where T : class, IMessage<T>
    {
        T request = await ReadAsync(context, parser).ConfigureAwait(false)
            ?? throw new GrpcException(GrpcStatusCode.Unimplemented, "The call has no request message; this method takes one.");
        return await ReadAsync(context, parser).ConfigureAwait(false) is null
            ? request
            : throw new GrpcException(GrpcStatusCode.Unimplemented, "The call has more than one request message; this method takes one.");
    }

    /// <summary>The requests as they come. The enumerator's own token is not used: the call's covers every way a call ends.</summary>
    public static async IAsyncEnumerable<T> ReadAllAsync<T>(GrpcServerCallContext context, MessageParser<T> parser)
        where T : class, IMessage<T>
    {
        while (await ReadAsync(context, parser).ConfigureAwait(false) is { } request)
            yield return request;
    }

    private static async ValueTask<T?> ReadAsync<T>(GrpcServerCallContext context, MessageParser<T> parser)
        where T : class, IMessage<T>
    {
        try
        {
            return await context.Reader.ReadAsync(parser, context.CancellationToken).ConfigureAwait(false);
        }
        catch (IOException e)
        {
            // Kestrel says so when the client resets the stream or its connection ends.
            throw new OperationCanceledException("The client ended the call.", e);
        }
    }
}
