using System.Buffers;
using System.IO.Pipelines;
using System.Net.Security;
using System.Net.Sockets;
using System.Runtime.CompilerServices;
using System.Security.Authentication;
using LightQ.Server.Transport;

namespace LightQ.Server.Tls;

/// <summary>
/// Decrypts into pinned blocks, always one contiguous segment. Waits with a read of zero bytes and without a block
/// while nothing is buffered.
/// </summary>
/// <remarks>
/// As <see cref="SocketPipeReader"/>; an <c>SslStream</c> gives at most what it has received, so a read after that wait
/// costs no system call.
/// </remarks>
internal sealed class TlsPipeReader(SslStream tls, Socket socket, DataPlaneBlocks pools) : PipeReader
{
    /// <summary>One so many-th of a block must be free to receive into it.</summary>
    private const int SmallestReceive = 16;

    private BlockPool _blocks = pools.Greeting;
    private bool _isWide;
    private byte[]? _block;
    private int _start;
    private int _end;
    private bool _examined = true;
    private bool _ended;

    /// <summary>What ended the reading, unless the peer just left.</summary>
    public Exception? Failure { get; private set; }

    /// <summary>As <see cref="SocketPipeReader.Widen"/>.</summary>
    public void Widen() => _isWide = true;

    public override ValueTask<ReadResult> ReadAsync(CancellationToken cancellationToken = default) =>
        TryRead(out ReadResult result) ? new ValueTask<ReadResult>(result) : ReceiveAsync();

    public override bool TryRead(out ReadResult result)
    {
        result = Result();
        return _ended || (_end > _start && !_examined);
    }

    public override void AdvanceTo(SequencePosition consumed) => AdvanceTo(consumed, consumed);

    public override void AdvanceTo(SequencePosition consumed, SequencePosition examined)
    {
        _start = consumed.GetInteger();
        _examined = examined.GetInteger() >= _end;
        if (_start == _end)
            ReturnBlock();
    }

    public override void CancelPendingRead() => socket.Dispose();

    public override void Complete(Exception? exception = null) => ReturnBlock();

    private ReadResult Result() =>
        new(
            _block is null ? ReadOnlySequence<byte>.Empty : new ReadOnlySequence<byte>(_block, _start, _end - _start),
            isCanceled: false,
            isCompleted: _ended
        );

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private async ValueTask<ReadResult> ReceiveAsync()
    {
        try
        {
            if (_block is null)
                await tls.ReadAsync(Memory<byte>.Empty).ConfigureAwait(false);
            pools.MakeRoom(ref _blocks, _isWide, ref _block, ref _start, ref _end, SmallestReceive);
            int received = await tls.ReadAsync(_block.AsMemory(_end)).ConfigureAwait(false);
            _ended = received == 0;
            _end += received;
            _examined = false;
        }
        catch (Exception e)
            when (e is IOException or AuthenticationException or ObjectDisposedException or InvalidOperationException)
        {
            (_ended, Failure) = (true, e);
        }
        return Result();
    }

    private void ReturnBlock()
    {
        if (_block is not null)
            _blocks.Return(_block);
        (_block, _start, _end) = (null, 0, 0);
    }
}
