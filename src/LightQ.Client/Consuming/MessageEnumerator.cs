using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Records;

namespace LightQ.Client.Consuming;

/// <summary>Enumerates messages; within a batch every step is synchronous and a few nanoseconds long.</summary>
internal sealed class MessageEnumerator(
    Func<CancellationToken, Task<Consumer>> subscribe,
    CancellationToken all,
    CancellationToken cancellationToken
) : DeliveryReader(subscribe, all, cancellationToken), IAsyncEnumerator<Message>
{
    private byte[] _memory = [];
    private int _record;
    private int _next;
    private int _end;
    private int _left;
    private long _offset;

    public Message Current => new(_memory, _record, BatchStart, _offset, Partition, Lock);

    public ValueTask<bool> MoveNextAsync()
    {
        while (_left != 0)
        {
            if (!TryMoveToRecord())
                return MoveBehindDamage();
            if (Filter is null || IsWanted())
                return new ValueTask<bool>(true);
        }
        return MoveToNextBatchAsync();
    }

    protected override bool OnBatch()
    {
        var batch = new BatchView(Memory.AsSpan(BatchStart, BatchLength));
        long end = (long)BatchStart + batch.HeaderLength + batch.UncompressedLength;
        bool fits = batch.UncompressedLength >= 0 && end <= BatchStart + BatchLength;
        _memory = Memory;
        _next = BatchStart + batch.HeaderLength;
        _end = fits ? (int)end : 0;
        _left = BatchSkip + BatchCount;
        _offset = batch.BaseOffset - 1;
        int skip = BatchSkip;
        do
        {
            if (!TryMoveToRecord())
            {
                ReportDamage();
                return false;
            }
            if (skip-- <= 0 && (Filter is null || IsWanted()))
                return true;
        } while (_left > 0);
        return false;
    }

    private bool IsWanted()
    {
        if (Filter!.Matches(new Message(_memory, _record, BatchStart, _offset, Partition, default).HeaderBytes))
            return true;
        PassOver(_offset, 1);
        return false;
    }

    private bool TryMoveToRecord()
    {
        if (_left <= 0 || _end - _next < RecordLayout.FixedSize)
            return false;
        ulong lengths = Unsafe.ReadUnaligned<ulong>(
            ref Unsafe.Add(ref MemoryMarshal.GetArrayDataReference(_memory), _next)
        );
        if (!BitConverter.IsLittleEndian)
            lengths = System.Buffers.Binary.BinaryPrimitives.ReverseEndianness(lengths);
        uint body = (uint)lengths;
        int key = (int)(lengths >> 32) & 0xFFFF;
        long length =
            RecordLayout.FixedSize
            + (body == RecordLayout.Tombstone ? 0 : (long)body)
            + (key == RecordLayout.NoKey ? 0 : key)
            + (long)(lengths >> 48);
        if (length > _end - _next)
        {
            _left = 0;
            return false;
        }
        _record = _next;
        _next += (int)length;
        _left--;
        _offset++;
        return true;
    }

    private ValueTask<bool> MoveBehindDamage()
    {
        _left = 0;
        ReportDamage();
        return MoveToNextBatchAsync();
    }
}
