using System.Numerics;
using System.Runtime.CompilerServices;

namespace LightQ.Broker.Deduplication;

/// <summary>
/// Message ids of one user, or of all, that a partition remembers: for a time. Guarded by the partition's append lock.
/// </summary>
/// <remarks>
/// An entry takes 40 bytes and a bucket 4. Entries lie in chunks, oldest first, and buckets are split one at a time as
/// entries come (linear hashing), so that no append waits for a table to be copied. Chunks go when all in them is
/// forgotten, but for one that is filled next: so a window whose ids come and go alike allocates nothing. Everything
/// goes when nothing is remembered.
/// </remarks>
/// <param name="micros">How long an id is remembered, in microseconds.</param>
/// <param name="most">How many are, at most; the caller sees to it.</param>
internal sealed class IdTable(long micros, int most)
{
    private const int ChunkSize = 1024;

    private readonly Entry[]?[] _chunks = new Entry[]?[((most + ChunkSize - 1) / ChunkSize) + 1];
    private Entry[]? _spare;
    private int[]?[] _buckets = [];
    private int _bucketCount;
    private long _first;
    private long _next;

    /// <summary>How many are held.</summary>
    public int Count => (int)(_next - _first);

    /// <summary>When the oldest is forgotten, unix microseconds; null when none is remembered.</summary>
    public long? ForgetsAt => _first < _next ? At(_first).Time + micros : null;

    /// <summary>Bytes that it takes, without the object itself: for tests.</summary>
    internal long Bytes =>
        (long)_chunks.Length * 8
        + _chunks.Append(_spare).Count(c => c is not null) * (long)ChunkSize * Unsafe.SizeOf<Entry>()
        + _buckets.Sum(b => (b?.Length ?? 0) * sizeof(int) + 8L);

    /// <summary>What is remembered, oldest first.</summary>
    public IEnumerable<RememberedId> Ids()
    {
        for (long number = _first; number < _next; number++)
        {
            ref Entry entry = ref At(number);
            yield return new RememberedId(entry.Key, entry.Offset, entry.Time, entry.User);
        }
    }

    /// <summary>Whether the time of the oldest is over.</summary>
    public bool IsOldestOver(long now) => _first < _next && IsOver(At(_first), now);

    /// <summary>Looks for an id.</summary>
    /// <param name="key">See <see cref="DedupWindow.KeyOf"/>.</param>
    /// <param name="now">The time of the append, unix microseconds.</param>
    /// <param name="offset">Where the message with this id is.</param>
    public bool TryFind(UInt128 key, long now, out long offset)
    {
        offset = -1;
        if (_bucketCount == 0)
            return false;
        for (int slot = Bucket(BucketOf(key)) - 1; slot >= 0; )
        {
            ref Entry entry = ref Slot(slot);
            if (entry.Key == key)
            {
                offset = entry.Offset;
                // An id that was published again after its time is found before its forgotten entry.
                return !IsOver(entry, now);
            }
            slot = entry.Next - 1;
        }
        return false;
    }

    /// <summary>Remembers an id; there is room for it.</summary>
    public void Add(in RememberedId id)
    {
        if (_bucketCount == 0)
            (_buckets, _bucketCount) = ([new int[ChunkSize]], ChunkSize);
        int slot = (int)(_next % ((long)_chunks.Length * ChunkSize));
        Entry[] chunk = _chunks[slot / ChunkSize] ??= NewChunk();
        ref int head = ref Bucket(BucketOf(id.Key));
        chunk[slot % ChunkSize] = new Entry
        {
            High = (ulong)(id.Key >> 64),
            Low = (ulong)id.Key,
            Offset = id.Offset,
            Time = id.Time,
            Next = head,
            User = id.User,
        };
        head = slot + 1;
        _next++;
        if (Count > _bucketCount)
            SplitBucket();
    }

    /// <summary>Forgets the oldest.</summary>
    public void ForgetFirst()
    {
        int slot = (int)(_first % ((long)_chunks.Length * ChunkSize));
        ref Entry gone = ref Slot(slot);
        ref int link = ref Bucket(BucketOf(gone.Key));
        while (link != slot + 1)
            link = ref Slot(link - 1).Next;
        link = gone.Next;
        _first++;
        if (slot % ChunkSize == ChunkSize - 1)
            (_chunks[slot / ChunkSize], _spare) = (null, _chunks[slot / ChunkSize]);
        if (_first == _next)
        {
            Array.Clear(_chunks);
            _spare = null;
            (_buckets, _bucketCount) = ([], 0);
        }
    }

    private bool IsOver(in Entry entry, long now) => now - entry.Time >= micros;

    private Entry[] NewChunk()
    {
        Entry[] chunk = _spare ?? new Entry[ChunkSize];
        _spare = null;
        return chunk;
    }

    /// <summary>Adds one bucket, to which goes what is its of the one bucket that had it so far.</summary>
    private void SplitBucket()
    {
        int added = _bucketCount,
            chunk = added / ChunkSize;
        if (chunk == _buckets.Length)
            Array.Resize(ref _buckets, 2 * chunk);
        _buckets[chunk] ??= new int[ChunkSize];
        ref int from = ref Bucket(added - (int)BitOperations.RoundUpToPowerOf2((uint)added + 1) / 2);
        _bucketCount++;
        ref int to = ref Bucket(added);
        while (from != 0)
        {
            int slot = from;
            ref Entry entry = ref Slot(slot - 1);
            if (BucketOf(entry.Key) != added)
            {
                from = ref entry.Next;
                continue;
            }
            from = entry.Next;
            to = slot;
            to = ref entry.Next;
            to = 0;
        }
    }

    private int BucketOf(UInt128 key)
    {
        uint hash = (uint)(ulong)key,
            size = BitOperations.RoundUpToPowerOf2((uint)_bucketCount);
        uint bucket = hash & (size - 1);
        return (int)(bucket < (uint)_bucketCount ? bucket : bucket & ((size >> 1) - 1));
    }

    private ref int Bucket(int bucket) => ref _buckets[bucket / ChunkSize]![bucket % ChunkSize];

    private ref Entry Slot(int slot) => ref _chunks[slot / ChunkSize]![slot % ChunkSize];

    private ref Entry At(long number) => ref Slot((int)(number % ((long)_chunks.Length * ChunkSize)));

    private struct Entry
    {
        public ulong High;
        public ulong Low;
        public long Offset;
        public long Time;
        public int Next; // Slot + 1 of the next one in its bucket; 0 for none.
        public uint User;

        public readonly UInt128 Key => new(High, Low);
    }
}
