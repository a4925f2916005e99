using Google.Protobuf;
using LightQ.Grpc.AspNetCore.Calls;

namespace LightQ.Grpc.AspNetCore;

/// <summary>Where a streaming handler writes its responses. One write at a time.</summary>
/// <typeparam name="TResponse">The response message.</typeparam>
public sealed class GrpcResponseStream<TResponse>
    where TResponse : class, IMessage<TResponse>
{
    private readonly GrpcServerCallContext _context;
    private int _writing;

    internal GrpcResponseStream(GrpcServerCallContext context) => _context = context;

    /// <summary>Sends a response; waits while the client does not take any more.</summary>
    /// <exception cref="OperationCanceledException">The call was cancelled, or its deadline passed.</exception>
    /// <exception cref="InvalidOperationException">Another write is under way.</exception>
    public async ValueTask WriteAsync(TResponse response)
    {
        ArgumentNullException.ThrowIfNull(response);
        if (Interlocked.Exchange(ref _writing, 1) != 0) throw new InvalidOperationException("A response is being written; await it first.");
        try
        {
            GrpcMessageWriter.Write(_context, response);
            await GrpcMessageWriter.FlushAsync(_context).ConfigureAwait(false);
        }
        finally
        {
            Volatile.Write(ref _writing, 0);
        }
    }
}
