using System.Net;

namespace LightQ.Grpc.Calls;

/// <summary>
/// The body of a request that is written while the call lasts: the handler hands over its stream, and sending ends when
/// <see cref="Complete"/> is called. The stream cannot be sent twice, so the handler's own retry ends the call instead.
/// </summary>
internal sealed class GrpcRequestStream : HttpContent
{
    private readonly TaskCompletionSource<Stream> _opened = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly TaskCompletionSource _completed = new(TaskCreationOptions.RunContinuationsAsynchronously);

    /// <summary>Completes with the stream to write to once the transport has one.</summary>
    public Task<Stream> Opened => _opened.Task;

    /// <summary>Ends the body after what was written.</summary>
    public void Complete() => _completed.TrySetResult();

    /// <summary>
    /// There will be no stream, or no more of it: writers need not wait. A body that was not completed is broken off, so that
    /// the server cannot take what it has for all there is.
    /// </summary>
    public void Abandon()
    {
        _opened.TrySetCanceled();
        _completed.TrySetCanceled();
    }

    protected override Task SerializeToStreamAsync(Stream stream, TransportContext? context) =>
        SerializeToStreamAsync(stream, context, CancellationToken.None);

    protected override async Task SerializeToStreamAsync(Stream stream, TransportContext? context, CancellationToken cancellationToken)
    {
        // The headers leave now, not with the first message: a server may answer a call that has not written anything.
        try
        {
            await stream.FlushAsync(cancellationToken).ConfigureAwait(false);
        }
        catch
        {
            _opened.TrySetCanceled(CancellationToken.None); // The server has answered and ended the call already: a writer must not wait for a stream.
            throw;
        }
        if (!_opened.TrySetResult(stream)) throw new IOException("A request stream cannot be sent a second time.");
        await _completed.Task.WaitAsync(cancellationToken).ConfigureAwait(false);
    }

    protected override bool TryComputeLength(out long length)
    {
        length = 0;
        return false;
    }
}
