using System.Buffers.Binary;
using LightQ.Broker.Users;
using LightQ.Storage;

namespace LightQ.Broker.Delays;

/// <summary>
/// The delayed batches of one log that are not delivered yet. Guarded by the partition's append lock, but for the
/// figures.
/// </summary>
/// <remarks>
/// A batch goes by its first offset, that of its publishing, wherever in the log its newest copy lies: so what is due
/// at the same time is delivered in the order in which it was published.
/// </remarks>
internal sealed class PendingDelays
{
    private const int EntrySize = 8 + 8 + 4 + 4 + 8,
        EarlierEntrySize = 8 + 8 + 4,
        CancelledSize = 8 + 8;
    private const uint HasCopies = 1u << 31,
        HasCancelled = 1u << 30;

    // Null before the first delayed batch: most topics never have one, and these take 200 bytes.
    private SortedDictionary<long, Entry>? _byOffset;

    // Ordered by due time, then by first offset. Removed batches stay in here and are skipped.
    private PriorityQueue<long, (long DueAt, long First)>? _byDue;

    // The offsets of copied batches, by their first offsets.
    private Dictionary<long, long>? _copies;

    // Of users that have a share; what a start finds is nobody's.
    private Dictionary<uint, int>? _byUser;
    private long _messages;
    private long _firstOffset = long.MaxValue;

    /// <summary>How many batches.</summary>
    public int Count => _byOffset?.Count ?? 0;

    /// <summary>How many messages they have. Any thread.</summary>
    public long Messages => Volatile.Read(ref _messages);

    /// <summary>What is noted of those that are due and of some that were removed: for tests.</summary>
    internal int Queued => _byDue?.Count ?? 0;

    /// <summary>
    /// How long they are together, in bytes of the log; of those that an earlier version has noted nothing is known.
    /// </summary>
    public long Bytes { get; private set; }

    /// <summary>
    /// Where the one lies that is furthest back in the log; <see cref="long.MaxValue"/> without any. Any thread.
    /// </summary>
    public long FirstOffset => Volatile.Read(ref _firstOffset);

    /// <summary>Notes a batch that was published.</summary>
    /// <param name="offset">Where it lies.</param>
    /// <param name="dueAt">When it is due, unix microseconds.</param>
    /// <param name="messages">How many it has.</param>
    /// <param name="bytes">How long it is.</param>
    /// <param name="isRelative">Whether it is due so long after its publishing, and not at that time.</param>
    /// <param name="user">The <see cref="UserNumber"/> of whoever published it.</param>
    public void Add(
        long offset,
        long dueAt,
        int messages,
        int bytes,
        bool isRelative = false,
        uint user = UserNumber.None
    ) => Add(offset, new Entry(offset, dueAt, messages, bytes, isRelative, user), isQueued: false);

    /// <summary>How many batches are one user's, of those that were published since the start.</summary>
    public int CountOf(uint user) => _byUser?.GetValueOrDefault(user) ?? 0;

    /// <summary>
    /// Notes a copy, which takes the place of the batch that was published at <paramref name="first"/>, or of its copy
    /// before.
    /// </summary>
    public void AddCopy(long offset, long first, long dueAt, int messages, int bytes)
    {
        var copy = new Entry(first, dueAt, messages, bytes, IsRelative: false, UserNumber.None);
        if (TryFind(first, out _, out Entry before))
            copy = before with { Messages = messages, Bytes = bytes };
        bool isQueued = Remove(first);
        (_copies ??= [])[first] = offset;
        Add(offset, copy, isQueued);
    }

    /// <summary>Forgets a batch.</summary>
    /// <param name="first">Its first offset.</param>
    /// <returns>Whether it waited.</returns>
    public bool Remove(long first)
    {
        if (!TryFind(first, out long offset, out Entry entry))
            return false;
        _byOffset!.Remove(offset);
        _copies?.Remove(first);
        Bytes -= entry.Bytes;
        CountUser(entry.User, -1);
        Volatile.Write(ref _messages, _messages - entry.Left);
        if (offset == _firstOffset)
            Volatile.Write(ref _firstOffset, OldestOffset());
        return true;
    }

    /// <summary>Notes that a message is cancelled; with its last one, a batch is forgotten.</summary>
    /// <param name="first">The first offset of its batch.</param>
    /// <param name="message">The offset at which it was published.</param>
    /// <returns>Whether it waited.</returns>
    public bool Cancel(long first, long message)
    {
        if (!TryFind(first, out long offset, out Entry entry) || !entry.Awaits(message))
            return false;
        if (entry.Left == 1)
            return Remove(first);
        if (entry.Cancelled is null)
            _byOffset![offset] = entry = entry with { Cancelled = [] };
        entry.Cancelled!.Add(message);
        Volatile.Write(ref _messages, _messages - 1);
        return true;
    }

    /// <summary>Whether a message of a batch is to be delivered.</summary>
    /// <param name="first">The first offset of the batch.</param>
    /// <param name="message">The offset at which the message was published.</param>
    public bool Awaits(long first, long message) => TryFind(first, out _, out Entry entry) && entry.Awaits(message);

    /// <summary>
    /// The messages of a batch that are cancelled, by the offsets at which they were published: a copy; null for none.
    /// </summary>
    /// <param name="first">The first offset of the batch.</param>
    public HashSet<long>? CancelledOf(long first) =>
        TryFind(first, out _, out Entry entry) && entry.Cancelled is { } cancelled ? [.. cancelled] : null;

    /// <summary>How many messages of a batch are cancelled: they only become more.</summary>
    /// <param name="first">The first offset of the batch.</param>
    public int CountCancelled(long first) => TryFind(first, out _, out Entry entry) ? entry.Cancelled?.Count ?? 0 : 0;

    /// <summary>In which batches messages wait.</summary>
    /// <param name="messages">The offsets at which they were published.</param>
    /// <returns>The first offset of each one's batch; -1 of one that does not wait.</returns>
    public long[] FindBatches(IReadOnlyList<long> messages)
    {
        long[] firsts = new long[messages.Count];
        var inside = new List<(long Message, int Index)>();
        for (int i = 0; i < firsts.Length; i++)
        {
            bool isFirst = TryFind(messages[i], out _, out Entry entry);
            firsts[i] = isFirst && entry.Awaits(messages[i]) ? entry.First : -1;
            if (!isFirst)
                inside.Add((messages[i], i));
        }
        if (inside.Count == 0 || _byOffset is null)
            return firsts;
        inside.Sort();
        // One look at each batch, however many are asked for: a batch goes by its first offset alone.
        foreach (Entry entry in _byOffset.Values)
        {
            int at = inside.BinarySearch((entry.First, -1));
            for (at = at < 0 ? ~at : at; at < inside.Count && inside[at].Message < entry.End; at++)
            {
                if (entry.Awaits(inside[at].Message))
                    firsts[inside[at].Index] = entry.First;
            }
        }
        return firsts;
    }

    /// <summary>What waits, in no order.</summary>
    public ScheduledBatch[] All() =>
        _byOffset is null
            ? []
            :
            [
                .. _byOffset.Select(e => new ScheduledBatch(
                    e.Value.First,
                    e.Key,
                    e.Value.DueAt,
                    e.Value.Messages,
                    e.Value.Cancelled is { } cancelled ? new HashSet<long>(cancelled) : null
                )),
            ];

    /// <summary>Where a batch lies now.</summary>
    /// <param name="first">Its first offset.</param>
    /// <param name="offset">That of the batch or of its newest copy.</param>
    /// <returns>False when it is none that waits.</returns>
    public bool TryFind(long first, out long offset) => TryFind(first, out offset, out _);

    /// <summary>The one that is due first.</summary>
    public bool TryPeek(out long first, out long dueAt)
    {
        (first, dueAt) = (0, 0);
        while (_byDue is not null && _byDue.TryPeek(out first, out (long DueAt, long First) order))
        {
            dueAt = order.DueAt;
            if (TryFind(first, out _))
                return true;
            _byDue.Dequeue();
        }
        return false;
    }

    /// <summary>When a batch is due; null when it does not wait.</summary>
    public long? DueAt(long first) => TryFind(first, out _, out Entry entry) ? entry.DueAt : null;

    /// <summary>Moves the due times of those that wait for so long, and not until a time.</summary>
    public void Move(long by)
    {
        if (_byOffset is null)
            return;
        foreach ((long offset, Entry entry) in _byOffset.Where(e => e.Value.IsRelative).ToArray())
            _byOffset[offset] = entry with { DueAt = entry.DueAt + by };
        _byDue = new PriorityQueue<long, (long DueAt, long First)>(
            _byOffset.Values.Select(e => (e.First, (e.DueAt, e.First)))
        );
    }

    /// <summary>
    /// Lets the one that is due first wait for others: it is due at another time. Only here; a start finds what it says
    /// itself.
    /// </summary>
    public void PostponeFirst(long until)
    {
        if (TryPeek(out long first, out _))
            _byDue!.DequeueEnqueue(first, (until, first));
    }

    /// <summary>
    /// The first offsets of those that lie in front of an offset, if they are at most so long together; otherwise none.
    /// </summary>
    public IReadOnlyList<long> Before(long offset, long mostBytes)
    {
        var found = new List<long>();
        long bytes = 0;
        foreach ((long at, Entry entry) in _byOffset ?? [])
        {
            if (at >= offset)
                break;
            bytes += entry.Bytes;
            if (bytes > mostBytes)
                return [];
            found.Add(entry.First);
        }
        return found;
    }

    /// <summary>Writes all of them, for the journal to keep at a roll; nothing when there are none.</summary>
    /// <remarks>
    /// <c>{u64 0, u32 n, n x {i64 offset, i64 due, u32 messages, u32 bytes, i64 first offset}}</c>, little-endian; the
    /// highest bit of n is set. Earlier versions, which copied none, did not set it and wrote neither bytes nor first
    /// offset. Then, if messages of such batches are cancelled, <c>{u64 0, u32 n, n x {i64 first offset, i64
    /// message's}}</c> with the second highest bit of n. No producer has the id 0, so its states may follow.
    /// </remarks>
    public byte[] Save()
    {
        if (_byOffset is null or { Count: 0 })
            return [];
        byte[] bytes = new byte[sizeof(ulong) + sizeof(uint) + (_byOffset.Count * EntrySize)];
        BinaryPrimitives.WriteUInt32LittleEndian(bytes.AsSpan(8), (uint)_byOffset.Count | HasCopies);
        Span<byte> left = bytes.AsSpan(12);
        foreach ((long offset, Entry entry) in _byOffset)
        {
            BinaryPrimitives.WriteInt64LittleEndian(left, offset);
            BinaryPrimitives.WriteInt64LittleEndian(left[8..], entry.DueAt);
            BinaryPrimitives.WriteInt32LittleEndian(left[16..], entry.Messages);
            BinaryPrimitives.WriteInt32LittleEndian(left[20..], entry.Bytes);
            BinaryPrimitives.WriteInt64LittleEndian(left[24..], entry.First);
            left = left[EntrySize..];
        }
        return [.. bytes, .. SaveCancelled()];
    }

    /// <summary>
    /// Reads what <see cref="Save"/> wrote, if the bytes begin with it; the journal has verified their checksum.
    /// </summary>
    /// <returns>What follows.</returns>
    /// <exception cref="JournalFormatException">It contradicts its length.</exception>
    public ReadOnlySpan<byte> Load(ReadOnlySpan<byte> bytes)
    {
        if (bytes.Length < 12 || BinaryPrimitives.ReadUInt64LittleEndian(bytes) != 0)
            return bytes;
        uint head = BinaryPrimitives.ReadUInt32LittleEndian(bytes[8..]),
            count = head & ~HasCopies;
        int size = head == count ? EarlierEntrySize : EntrySize;
        bytes = bytes[12..];
        if (count > bytes.Length / size)
            throw new JournalFormatException("A snapshot of delayed batches contradicts its length.");
        for (; count > 0; count--, bytes = bytes[size..])
            LoadEntry(bytes[..size], BinaryPrimitives.ReadInt64LittleEndian(bytes));
        return LoadCancelled(bytes);
    }

    private byte[] SaveCancelled()
    {
        int count = _byOffset!.Values.Sum(static e => e.Cancelled?.Count ?? 0);
        if (count == 0)
            return [];
        byte[] bytes = new byte[sizeof(ulong) + sizeof(uint) + (count * CancelledSize)];
        BinaryPrimitives.WriteUInt32LittleEndian(bytes.AsSpan(8), (uint)count | HasCancelled);
        Span<byte> left = bytes.AsSpan(12);
        foreach (Entry entry in _byOffset.Values)
        {
            foreach (long message in entry.Cancelled ?? [])
            {
                BinaryPrimitives.WriteInt64LittleEndian(left, entry.First);
                BinaryPrimitives.WriteInt64LittleEndian(left[8..], message);
                left = left[CancelledSize..];
            }
        }
        return bytes;
    }

    private ReadOnlySpan<byte> LoadCancelled(ReadOnlySpan<byte> bytes)
    {
        if (bytes.Length < 12 || BinaryPrimitives.ReadUInt64LittleEndian(bytes) != 0)
            return bytes;
        uint head = BinaryPrimitives.ReadUInt32LittleEndian(bytes[8..]),
            count = head & ~HasCancelled;
        bytes = bytes[12..];
        if (head == count || count > bytes.Length / CancelledSize)
            throw new JournalFormatException("A snapshot of cancelled messages contradicts its length.");
        for (; count > 0; count--, bytes = bytes[CancelledSize..])
        {
            Cancel(BinaryPrimitives.ReadInt64LittleEndian(bytes), BinaryPrimitives.ReadInt64LittleEndian(bytes[8..]));
        }
        return bytes;
    }

    private void LoadEntry(ReadOnlySpan<byte> entry, long offset)
    {
        long dueAt = BinaryPrimitives.ReadInt64LittleEndian(entry[8..]),
            first = entry.Length == EntrySize ? BinaryPrimitives.ReadInt64LittleEndian(entry[24..]) : offset;
        int messages = BinaryPrimitives.ReadInt32LittleEndian(entry[16..]),
            length = entry.Length == EntrySize ? BinaryPrimitives.ReadInt32LittleEndian(entry[20..]) : 0;
        if (first == offset)
            Add(offset, dueAt, messages, length);
        else
            AddCopy(offset, first, dueAt, messages, length);
    }

    private void Add(long offset, in Entry entry, bool isQueued)
    {
        _byOffset ??= [];
        _byDue ??= new PriorityQueue<long, (long DueAt, long First)>();
        if (!_byOffset.TryAdd(offset, entry))
            return;
        if (!isQueued)
            _byDue.Enqueue(entry.First, (entry.DueAt, entry.First));
        Bytes += entry.Bytes;
        CountUser(entry.User, 1);
        Volatile.Write(ref _messages, _messages + entry.Left);
        if (offset < _firstOffset)
            Volatile.Write(ref _firstOffset, offset);
    }

    private void CountUser(uint user, int change)
    {
        if (user == UserNumber.None)
            return;
        int count = CountOf(user) + change;
        if (count == 0)
            _byUser!.Remove(user);
        else
            (_byUser ??= [])[user] = count;
    }

    private bool TryFind(long first, out long offset, out Entry entry)
    {
        if (_copies is null || !_copies.TryGetValue(first, out offset))
            offset = first;
        entry = default;
        return _byOffset is not null && _byOffset.TryGetValue(offset, out entry) && entry.First == first;
    }

    private long OldestOffset()
    {
        foreach (long offset in _byOffset!.Keys)
            return offset;
        return long.MaxValue;
    }

    private readonly record struct Entry(long First, long DueAt, int Messages, int Bytes, bool IsRelative, uint User)
    {
        /// <summary>By the offsets at which they were published; null for none.</summary>
        public HashSet<long>? Cancelled { get; init; }

        public long End => First + Messages;

        /// <summary>How many are not cancelled.</summary>
        public int Left => Messages - (Cancelled?.Count ?? 0);

        public bool Awaits(long message) =>
            message >= First && message < End && (Cancelled is null || !Cancelled.Contains(message));
    }
}
