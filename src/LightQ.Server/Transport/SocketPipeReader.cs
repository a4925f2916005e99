using System.Buffers;
using System.IO.Pipelines;
using System.Net.Sockets;
using System.Threading.Tasks.Sources;

namespace LightQ.Server.Transport;

#pragma warning disable CA1001 // Complete is a PipeReader's Dispose.
/// <summary>
/// Reads a socket into pinned blocks, always as one contiguous segment, and completes on the socket's own thread.
/// </summary>
/// <remarks>
/// While nothing is buffered and the socket was drained by the last receive, it waits with a receive of zero bytes and
/// holds no block. A frame that does not fit the rest of the block moves to its front, at most the unread part of one
/// frame; a frame longer than the block gets a larger one. Blocks are small until <see cref="Widen"/>, and where large
/// ones are scarce. One reader at a time; <see cref="ReadAsync"/> is ended by disposing the socket.
/// </remarks>
internal sealed class SocketPipeReader : PipeReader, IValueTaskSource<ReadResult>
{
    /// <summary>One so many-th of a block must be free to receive into it.</summary>
    private const int SmallestReceive = 4;

    private readonly Socket _socket;
    private readonly DataPlaneBlocks _pools;
    private BlockPool _blocks;
    private readonly SocketAsyncEventArgs _receive = new(true);
    private ManualResetValueTaskSourceCore<ReadResult> _source;
    private byte[]? _block;
    private int _start;
    private int _end;
    private bool _examined = true;
    private bool _drained = true;
    private bool _ended;
    private bool _isWide;

    public SocketPipeReader(Socket socket, DataPlaneBlocks pools)
    {
        _socket = socket;
        _pools = pools;
        _blocks = pools.Greeting;
        _receive.Completed += static (_, args) => ((SocketPipeReader)args.UserToken!).OnReceived();
        _receive.UserToken = this;
    }

    /// <summary>Bytes received since the connection began.</summary>
    public long BytesReceived { get; private set; }

    /// <summary>The peer is a client: the next blocks are large. By the reading thread.</summary>
    public void Widen() => _isWide = true;

    public override ValueTask<ReadResult> ReadAsync(CancellationToken cancellationToken = default)
    {
        if (_ended || (_end > _start && !_examined))
            return new ValueTask<ReadResult>(Result());
        _source.Reset();
        while (!StartReceive())
        {
            if (FinishReceive())
                return new ValueTask<ReadResult>(Result());
        }
        return new ValueTask<ReadResult>(this, _source.Version);
    }

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
        {
            _start = _end = 0;
            if (_drained || (_isWide && _blocks != _pools.Receive))
                ReturnBlock();
        }
    }

    public override void CancelPendingRead() => _socket.Dispose();

    public override void Complete(Exception? exception = null)
    {
        ReturnBlock();
        _receive.Dispose();
    }

    ReadResult IValueTaskSource<ReadResult>.GetResult(short token) => _source.GetResult(token);

    ValueTaskSourceStatus IValueTaskSource<ReadResult>.GetStatus(short token) => _source.GetStatus(token);

    void IValueTaskSource<ReadResult>.OnCompleted(
        Action<object?> continuation,
        object? state,
        short token,
        ValueTaskSourceOnCompletedFlags flags
    ) => _source.OnCompleted(continuation, state, token, flags & ~ValueTaskSourceOnCompletedFlags.UseSchedulingContext);

    private ReadResult Result() =>
        new(
            _block is null ? ReadOnlySequence<byte>.Empty : new ReadOnlySequence<byte>(_block, _start, _end - _start),
            isCanceled: false,
            isCompleted: _ended
        );

    /// <returns>False when the receive is already complete.</returns>
    private bool StartReceive()
    {
        if (_block is null && _drained)
        {
            _receive.SetBuffer(null, 0, 0);
        }
        else
        {
            _pools.MakeRoom(ref _blocks, _isWide, ref _block, ref _start, ref _end, SmallestReceive);
            _receive.SetBuffer(_block, _end, _block.Length - _end);
        }
        try
        {
            return _socket.ReceiveAsync(_receive);
        }
        catch (ObjectDisposedException)
        {
            _receive.SocketError = SocketError.OperationAborted;
            return false;
        }
    }

    /// <returns>Whether there is something to hand out: bytes, or the end.</returns>
    private bool FinishReceive()
    {
        int wanted = _receive.Count,
            received = _receive.BytesTransferred;
        if (_receive.SocketError != SocketError.Success || (wanted != 0 && received == 0))
        {
            _ended = true;
            return true;
        }
        _drained = wanted != 0 && received < wanted;
        if (wanted == 0)
            return false;
        _end += received;
        BytesReceived += received;
        _examined = false;
        return true;
    }

    private void OnReceived()
    {
        while (!FinishReceive())
        {
            if (StartReceive())
                return;
        }
        _source.SetResult(Result());
    }

    private void ReturnBlock()
    {
        if (_block is null)
            return;
        _blocks.Return(_block);
        _block = null;
        _start = _end = 0;
    }
}
