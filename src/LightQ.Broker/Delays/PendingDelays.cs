using System.Buffers.Binary;
using LightQ.Storage;

namespace LightQ.Broker.Delays;

/// <summary>The delayed batches of one log that are not delivered yet. Guarded by the partition's append lock, but for the figures.</summary>
internal sealed class PendingDelays
{
    private const int EntrySize = 8 + 8 + 4;
    // Null before the first: most topics never see one, and these are 200 bytes.
    private SortedDictionary<long, Entry>? _byOffset;
    // In the order in which they are due, then in that of their offsets; what was removed is passed over.
    private PriorityQueue<long, (long DueAt, long Offset)>? _byDue;
    private long _messages;
    private long _firstOffset = long.MaxValue;

    /// <summary>How many batches.</summary>
    public int Count => _byOffset?.Count ?? 0;

    /// <summary>How many messages they have. Any thread.</summary>
    public long Messages => Volatile.Read(ref _messages);

    /// <summary>The offset of the oldest of them; <see cref="long.MaxValue"/> without any. Any thread.</summary>
    public long FirstOffset => Volatile.Read(ref _firstOffset);

    public void Add(long offset, long dueAt, int messages)
    {
        _byOffset ??= [];
        _byDue ??= new PriorityQueue<long, (long DueAt, long Offset)>();
        if (!_byOffset.TryAdd(offset, new Entry(dueAt, messages)))
            return;
        _byDue.Enqueue(offset, (dueAt, offset));
        Volatile.Write(ref _messages, _messages + messages);
        if (offset < _firstOffset)
            Volatile.Write(ref _firstOffset, offset);
    }

    public void Remove(long offset)
    {
        if (_byOffset is null || !_byOffset.Remove(offset, out Entry entry))
            return;
        Volatile.Write(ref _messages, _messages - entry.Messages);
        if (offset == _firstOffset)
            Volatile.Write(ref _firstOffset, OldestOffset());
    }

    /// <summary>The one that is due first.</summary>
    public bool TryPeek(out long offset, out long dueAt)
    {
        (offset, dueAt) = (0, 0);
        while (_byDue is not null && _byDue.TryPeek(out offset, out (long DueAt, long Offset) order))
        {
            dueAt = order.DueAt;
            if (_byOffset!.ContainsKey(offset))
                return true;
            _byDue.Dequeue();
        }
        return false;
    }

    /// <summary>Writes all of them, for the journal to keep at a roll; nothing when there are none.</summary>
    /// <remarks><c>{u64 0, u32 n, n x {i64 offset, i64 due, u32 messages}}</c>, little-endian. No producer has the id 0, so its states may follow.</remarks>
    public byte[] Save()
    {
        if (_byOffset is null or { Count: 0 })
            return [];
        byte[] bytes = new byte[sizeof(ulong) + sizeof(uint) + (_byOffset.Count * EntrySize)];
        BinaryPrimitives.WriteInt32LittleEndian(bytes.AsSpan(8), _byOffset.Count);
        Span<byte> left = bytes.AsSpan(12);
        foreach ((long offset, Entry entry) in _byOffset)
        {
            BinaryPrimitives.WriteInt64LittleEndian(left, offset);
            BinaryPrimitives.WriteInt64LittleEndian(left[8..], entry.DueAt);
            BinaryPrimitives.WriteInt32LittleEndian(left[16..], entry.Messages);
            left = left[EntrySize..];
        }
        return bytes;
    }

    /// <summary>Reads what <see cref="Save"/> wrote, if the bytes begin with it; the journal has verified their checksum.</summary>
    /// <returns>What follows.</returns>
    /// <exception cref="JournalFormatException">It contradicts its length.</exception>
    public ReadOnlySpan<byte> Load(ReadOnlySpan<byte> bytes)
    {
        if (bytes.Length < 12 || BinaryPrimitives.ReadUInt64LittleEndian(bytes) != 0)
            return bytes;
        int count = BinaryPrimitives.ReadInt32LittleEndian(bytes[8..]);
        bytes = bytes[12..];
        if (count < 0 || count > bytes.Length / EntrySize)
            throw new JournalFormatException("A snapshot of delayed batches contradicts its length.");
        for (; count > 0; count--, bytes = bytes[EntrySize..])
        {
            Add(
                BinaryPrimitives.ReadInt64LittleEndian(bytes),
                BinaryPrimitives.ReadInt64LittleEndian(bytes[8..]),
                BinaryPrimitives.ReadInt32LittleEndian(bytes[16..]));
        }
        return bytes;
    }

    private long OldestOffset()
    {
        foreach (long offset in _byOffset!.Keys)
            return offset;
        return long.MaxValue;
    }

    private readonly record struct Entry(long DueAt, int Messages);
}
