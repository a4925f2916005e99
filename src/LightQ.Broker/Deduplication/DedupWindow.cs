using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Security.Cryptography;
using LightQ.Storage;

namespace LightQ.Broker.Deduplication;

/// <summary>
/// The message ids that one partition remembers: for a time, and at most so many, of which the oldest go first. Guarded
/// by the partition's append lock.
/// </summary>
/// <remarks>
/// <para>
/// Of an id 128 bits are kept, a hash under a key that is made anew with every process: so no client can find two ids
/// with equal hashes, and no message is dropped because of another's id.
/// </para>
/// <para>
/// An entry takes 40 bytes and a bucket 4. Entries lie in chunks, oldest first, and buckets are split one at a time as
/// entries come (linear hashing), so that no append waits for a table to be copied. Chunks go when all in them is
/// forgotten, but for one that is filled next: so a window whose ids come and go alike allocates nothing. Everything
/// goes when nothing is remembered.
/// </para>
/// </remarks>
internal sealed class DedupWindow
{
    private const int ChunkSize = 1024;

    /// <summary>
    /// At most so many are forgotten by one call: an append behind a long rest does not wait for all.
    /// </summary>
    private const int ForgottenAtOnce = 16;

    private static readonly UInt128 Secret = MemoryMarshal.Read<UInt128>(
        RandomNumberGenerator.GetBytes(Unsafe.SizeOf<UInt128>())
    );
    private readonly long _micros;
    private readonly Entry[]?[] _chunks;
    private Entry[]? _spare;
    private int[]?[] _buckets = [];
    private int _bucketCount;
    private long _first;
    private long _next;
    private (UInt128 Key, bool IsSet) _sought;

    /// <param name="window">How long an id is remembered.</param>
    /// <param name="maxIds">How many are, at most.</param>
    public DedupWindow(TimeSpan window, int maxIds)
    {
        (Window, MaxIds, _micros) = (window, maxIds, (long)window.TotalMicroseconds);
        _chunks = new Entry[]?[((maxIds + ChunkSize - 1) / ChunkSize) + 1];
    }

    /// <summary>How long an id is remembered.</summary>
    public TimeSpan Window { get; }

    /// <summary>How many are, at most.</summary>
    public int MaxIds { get; }

    /// <summary>How many are held. Any thread.</summary>
    public int Count => (int)(Volatile.Read(ref _next) - Volatile.Read(ref _first));

    /// <summary>Bytes that it takes, without the object itself: for tests.</summary>
    internal long Bytes =>
        (long)_chunks.Length * 8
        + _chunks.Append(_spare).Count(c => c is not null) * (long)ChunkSize * Unsafe.SizeOf<Entry>()
        + _buckets.Sum(b => (b?.Length ?? 0) * sizeof(int) + 8L);

    /// <summary>Looks for an id; the next <see cref="Add(long, long)"/> is of this one.</summary>
    /// <param name="id">The id, in UTF-8.</param>
    /// <param name="now">The time of the append, unix microseconds; never less than before.</param>
    /// <param name="offset">Where the message with this id is.</param>
    public bool TryFind(ReadOnlySpan<byte> id, long now, out long offset)
    {
        Forget(now, ForgottenAtOnce);
        UInt128 key = KeyOf(id);
        _sought = (key, true);
        return TryFind(key, now, out offset);
    }

    /// <summary>Remembers the id that was sought last.</summary>
    /// <param name="offset">Where its message is.</param>
    /// <param name="time">When it was appended, unix microseconds; never less than before.</param>
    public void Add(long offset, long time)
    {
        if (!_sought.IsSet)
            throw new InvalidOperationException("No id was sought.");
        _sought.IsSet = false;
        Add(_sought.Key, offset, time);
    }

    /// <summary>Remembers what another log's walk, or another window, has of an id, unless this one has it.</summary>
    public void Add(in RememberedId id)
    {
        if (!TryFind(id.Key, id.Time, out _))
            Add(id.Key, id.Offset, id.Time);
    }

    /// <summary>What is remembered, oldest first.</summary>
    public IEnumerable<RememberedId> Ids()
    {
        for (long number = _first; number < _next; number++)
        {
            ref Entry entry = ref At(number);
            yield return new RememberedId(entry.Key, entry.Offset, entry.Time);
        }
    }

    /// <summary>Forgets ids whose time is over.</summary>
    /// <param name="now">Now, unix microseconds.</param>
    /// <param name="most">How many at most.</param>
    /// <returns>When the next one's is; null when none is remembered.</returns>
    public long? Forget(long now, int most)
    {
        while (_first < _next && IsOver(At(_first), now))
        {
            if (most-- == 0)
                return now;
            ForgetFirst();
        }
        return _first < _next ? At(_first).Time + _micros : null;
    }

    /// <summary>What is remembered of an id instead of the id.</summary>
    public static UInt128 KeyOf(ReadOnlySpan<byte> id) => SipHash.Compute128(Secret, id);

    private bool IsOver(in Entry entry, long now) => now - entry.Time >= _micros;

    private bool TryFind(UInt128 key, long now, out long offset)
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

    private void Add(UInt128 key, long offset, long time)
    {
        while (Count >= MaxIds)
            ForgetFirst();
        if (_bucketCount == 0)
            (_buckets, _bucketCount) = ([new int[ChunkSize]], ChunkSize);
        int slot = (int)(_next % ((long)_chunks.Length * ChunkSize));
        Entry[] chunk = _chunks[slot / ChunkSize] ??= NewChunk();
        ref int head = ref Bucket(BucketOf(key));
        chunk[slot % ChunkSize] = new Entry
        {
            High = (ulong)(key >> 64),
            Low = (ulong)key,
            Offset = offset,
            Time = time,
            Next = head,
        };
        head = slot + 1;
        Volatile.Write(ref _next, _next + 1);
        if (Count > _bucketCount)
            SplitBucket();
    }

    private Entry[] NewChunk()
    {
        Entry[] chunk = _spare ?? new Entry[ChunkSize];
        _spare = null;
        return chunk;
    }

    private void ForgetFirst()
    {
        int slot = (int)(_first % ((long)_chunks.Length * ChunkSize));
        ref Entry gone = ref Slot(slot);
        ref int link = ref Bucket(BucketOf(gone.Key));
        while (link != slot + 1)
            link = ref Slot(link - 1).Next;
        link = gone.Next;
        Volatile.Write(ref _first, _first + 1);
        if (slot % ChunkSize == ChunkSize - 1)
            (_chunks[slot / ChunkSize], _spare) = (null, _chunks[slot / ChunkSize]);
        if (_first == _next)
        {
            Array.Clear(_chunks);
            _spare = null;
            (_buckets, _bucketCount) = ([], 0);
        }
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

        public readonly UInt128 Key => new(High, Low);
    }
}
