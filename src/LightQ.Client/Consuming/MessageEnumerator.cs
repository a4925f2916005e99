using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Records;

namespace LightQ.Client.Consuming;

/// <summary>
/// Enumerates messages that own their bytes: copies a batch piece by piece, each with the batch's header in front.
/// </summary>
/// <remarks>
/// Within a piece every step is synchronous and a few nanoseconds long. A piece is never written again, so that its
/// messages are good for as long as they are referenced. What a filter drops is not copied.
/// </remarks>
internal sealed class MessageEnumerator(
    Func<ILoop, CancellationToken, Task<Consumer>> subscribe,
    InFlightWindow window,
    CancellationToken all,
    CancellationToken cancellationToken
) : DeliveryReader(subscribe, window, all, cancellationToken), IAsyncEnumerator<Message>
{
    /// <summary>
    /// A message that is kept keeps its piece: that is what a small one costs at most. Far below the large-object
    /// threshold, and yet so large that an allocation for each costs next to nothing.
    /// </summary>
    private const int PieceBytes = 8 * 1024;

    // The piece.
    private byte[] _memory = [];
    private int _record;
    private int _next;
    private int _end;
    private long _offset;

    // What is left of the batch.
    private int _headerLength;
    private int _source;
    private int _sourceEnd;
    private int _left;
    private long _sourceOffset;
    private long _firstOffset;

    public Message Current => new(_memory, _record, _offset, Partition, Lock);

    /// <summary>What a filter has passed over in the batch is settled.</summary>
    protected override long FirstUnsettled => Filter is null ? 0 : _sourceOffset;

    protected override (long First, int Count) HandedOut => (_offset, 1);

    public ValueTask<bool> MoveNextAsync()
    {
        if (!MayGoOn())
            (_next, _left) = (_end, 0);
        if (_next < _end)
        {
            _record = _next;
            // Whole: the piece was cut between two records.
            _next += (int)RecordLengthAt(_memory, _next);
            _offset++;
            OnHandedOut(_offset + 1);
            return BeginNext();
        }
        return _left > 0 && TakePiece() ? BeginNext() : MoveToNextBatchAsync();
    }

    public override ValueTask DisposeAsync()
    {
        // The rest of the batch is about to be overwritten.
        (_next, _left) = (_end, 0);
        return base.DisposeAsync();
    }

    protected override bool OnBatch()
    {
        var batch = new BatchView(Memory.AsSpan(BatchStart, BatchLength));
        _headerLength = batch.HeaderLength;
        _source = BatchStart + _headerLength;
        long end = (long)_source + batch.UncompressedLength;
        bool fits =
            _headerLength >= BatchLayout.HeaderSize && batch.UncompressedLength >= 0 && end <= BatchStart + BatchLength;
        _sourceEnd = fits ? (int)end : 0;
        _sourceOffset = batch.BaseOffset;
        _firstOffset = batch.BaseOffset + BatchSkip;
        _left = BatchCount > 0 ? BatchSkip + BatchCount : 0;
        if (_left > 0)
            return TakePiece();
        ReportDamage();
        return false;
    }

    /// <summary>The next message of the batch is handed out.</summary>
    private ValueTask<bool> BeginNext()
    {
        if (Begins is not { } begins)
            return new ValueTask<bool>(true);
        if (Lock.MustAsk)
            return AskAsync(begins);
        begins.TakeInHand(Lock.DeliveryId, _offset, 1);
        return new ValueTask<bool>(true);
    }

    private async ValueTask<bool> AskAsync(Settlements begins)
    {
        if (await Lock.AskAsync(_offset, 1).ConfigureAwait(false))
        {
            begins.TakeInHand(Lock.DeliveryId, _offset, 1, isTold: true);
            return true;
        }
        (_next, _left) = (_end, 0); // The rest of the delivery went with it.
        return await MoveToNextBatchAsync().ConfigureAwait(false);
    }

    /// <summary>Copies the next messages that are wanted, as many as fit a piece, and goes to the first.</summary>
    /// <returns>False when the batch has none left.</returns>
    private bool TakePiece()
    {
        byte[] memory = Memory;
        int at = _source,
            from = 0,
            length = 0;
        while (_left > 0 && _sourceEnd - at >= RecordLayout.FixedSize)
        {
            long record = RecordLengthAt(memory, at);
            if (record > _sourceEnd - at || (length != 0 && _headerLength + length + record > PieceBytes))
                break;
            bool isWanted = _sourceOffset >= _firstOffset && (Filter is null || IsWanted(at));
            if (isWanted && length == 0)
                (from, _offset) = (at, _sourceOffset);
            if (isWanted)
                length += (int)record;
            at += (int)record;
            _left--;
            _sourceOffset++;
            // What is copied lies side by side.
            if (!isWanted && length != 0)
                break;
        }
        _source = at;
        if (length != 0)
        {
            Copy(from, length);
            OnHandedOut(_offset + 1);
            return true;
        }
        if (_left > 0)
        {
            _left = 0;
            ReportDamage();
        }
        return false;
    }

    private void Copy(int from, int length)
    {
        _memory = GC.AllocateUninitializedArray<byte>(_headerLength + length);
        Memory.AsSpan(BatchStart, _headerLength).CopyTo(_memory);
        Memory.AsSpan(from, length).CopyTo(_memory.AsSpan(_headerLength));
        _record = _headerLength;
        _next = _record + (int)RecordLengthAt(_memory, _record);
        _end = _memory.Length;
    }

    private bool IsWanted(int record)
    {
        if (Filter!.Matches(new Message(Memory, record, _sourceOffset, Partition, DeliveryLock.None).HeaderBytes))
            return true;
        PassOver(_sourceOffset, 1);
        return false;
    }

    private static long RecordLengthAt(byte[] memory, int at)
    {
        ulong lengths = Unsafe.ReadUnaligned<ulong>(
            ref Unsafe.Add(ref MemoryMarshal.GetArrayDataReference(memory), at)
        );
        if (!BitConverter.IsLittleEndian)
            lengths = System.Buffers.Binary.BinaryPrimitives.ReverseEndianness(lengths);
        uint body = (uint)lengths;
        int key = (int)(lengths >> 32) & 0xFFFF;
        return RecordLayout.FixedSize
            + (body == RecordLayout.Tombstone ? 0 : (long)body)
            + (key == RecordLayout.NoKey ? 0 : key)
            + (long)(lengths >> 48);
    }
}
