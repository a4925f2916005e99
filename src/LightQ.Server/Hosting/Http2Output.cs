using System.IO.Pipelines;

namespace LightQ.Server.Hosting;

/// <summary>What the web server sends on a connection of HTTP/2; tells its answers what of them goes out.</summary>
/// <param name="output">Where it goes.</param>
/// <param name="answers">The answers.</param>
internal sealed class Http2Output(PipeWriter output, Http2Answers answers) : PipeWriter
{
    private Http2OutputScan _scan = new(answers.OnFrame);
    private Memory<byte> _memory;

    public override bool CanGetUnflushedBytes => output.CanGetUnflushedBytes;

    public override long UnflushedBytes => output.UnflushedBytes;

    public override Memory<byte> GetMemory(int sizeHint = 0) => _memory = output.GetMemory(sizeHint);

    public override Span<byte> GetSpan(int sizeHint = 0) => GetMemory(sizeHint).Span;

    public override void Advance(int bytes)
    {
        _scan.Take(_memory.Span[..bytes]);
        _memory = _memory[bytes..];
        output.Advance(bytes);
    }

    public override ValueTask<FlushResult> FlushAsync(CancellationToken cancellationToken = default) =>
        output.FlushAsync(cancellationToken);

    public override void CancelPendingFlush() => output.CancelPendingFlush();

    public override void Complete(Exception? exception = null) => output.Complete(exception);

    public override ValueTask CompleteAsync(Exception? exception = null) => output.CompleteAsync(exception);
}
