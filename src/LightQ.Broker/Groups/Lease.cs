using LightQ.Storage.Files;

namespace LightQ.Broker.Groups;

/// <summary>
/// A delivery that is one member's until it settles each of its messages or the lock runs out. Guarded by its group's
/// gate.
/// </summary>
internal sealed class Lease
{
    private ulong _few;
    private ulong _fewBegun;
    private ulong[] _many = [];
    private ulong[] _manyBegun = [];

    /// <summary>Its number within the subscription.</summary>
    public uint Id { get; private set; }

    /// <summary>The member that holds it.</summary>
    public ExplicitMember Member { get; private set; } = null!;

    /// <summary>The first offset.</summary>
    public long First { get; private set; }

    /// <summary>How many messages were delivered.</summary>
    public int Count { get; private set; }

    /// <summary>How many of them are not settled.</summary>
    public int Open { get; private set; }

    /// <summary>How many deliveries of its messages count, this one included.</summary>
    public ushort Deliveries { get; private set; }

    /// <inheritdoc cref="RedeliveryRange.Losses"/>
    public byte Losses { get; private set; }

    /// <inheritdoc cref="RedeliveryRange.Waits"/>
    public byte Waits { get; private set; }

    /// <summary>The first message that is not settled; null when all are.</summary>
    public long? FirstOpen => TryFindOpen(0, out RedeliveryRange messages, out _) ? messages.First : null;

    /// <summary>When the lock runs out, in unix microseconds.</summary>
    public long Deadline { get; set; }

    /// <summary>The lease before and behind it in <see cref="LeaseList"/>.</summary>
    public Lease? Previous { get; set; }

    /// <inheritdoc cref="Previous"/>
    public Lease? Next { get; set; }

    /// <summary>Makes it a new delivery.</summary>
    /// <param name="id">Its number.</param>
    /// <param name="member">The member; one that does not say what it has begun counts as having begun all.</param>
    /// <param name="messages">What is delivered, this delivery counted.</param>
    /// <param name="deadline">When the lock runs out.</param>
    public void Begin(uint id, ExplicitMember member, in RedeliveryRange messages, long deadline)
    {
        (Id, Member, Deadline) = (id, member, deadline);
        (First, Count, Open, Deliveries, Losses, Waits) = (
            messages.First,
            messages.Count,
            messages.Count,
            messages.Deliveries,
            messages.Losses,
            messages.Waits
        );
        ulong begun = member.SaysWhatIsBegun && !Mutation.CountWaiting ? 0 : ulong.MaxValue;
        if (Count <= 64)
        {
            _few = ulong.MaxValue >> (64 - Count);
            _fewBegun = begun;
            return;
        }
        int words = (Count + 63) / 64;
        if (_many.Length < words)
            (_many, _manyBegun) = (new ulong[words], new ulong[words]);
        _many.AsSpan(0, words).Fill(ulong.MaxValue);
        _many[words - 1] = ulong.MaxValue >> ((64 - (Count & 63)) & 63);
        _manyBegun.AsSpan(0, words).Fill(begun);
    }

    /// <summary>The member has messages in hand, all of which are open.</summary>
    public void SetBegun(long first, uint count)
    {
        for (int at = (int)(first - First), end = at + (int)count; at < end; at = (at | 63) + 1)
            BegunWord(at) |= Mask(at, end);
    }

    /// <summary>Whether every message of a range is here and not settled.</summary>
    public bool IsOpen(long first, uint count)
    {
        long from = first - First;
        if (from < 0 || from + count > Count)
            return false;
        for (int at = (int)from, end = at + (int)count; at < end; at = (at | 63) + 1)
        {
            ulong mask = Mask(at, end);
            if ((Word(at) & mask) != mask)
                return false;
        }
        return true;
    }

    /// <summary>Takes messages out, all of which are open.</summary>
    public void Close(long first, uint count)
    {
        for (int at = (int)(first - First), end = at + (int)count; at < end; at = (at | 63) + 1)
            Word(at) &= ~Mask(at, end);
        Open -= (int)count;
    }

    /// <summary>Takes the first messages out that lie together and are all begun, or none of them.</summary>
    /// <returns>False when none is left.</returns>
    public bool TryTakeOpen(out RedeliveryRange messages, out bool isBegun)
    {
        if (!TryFindOpen(0, out messages, out isBegun))
            return false;
        Close(messages.First, (uint)messages.Count);
        return true;
    }

    /// <summary>The ranges that are open, in order, and whether they are begun.</summary>
    public IEnumerable<(RedeliveryRange Messages, bool IsBegun)> OpenRanges()
    {
        for (int at = 0; TryFindOpen(at, out RedeliveryRange messages, out bool isBegun); )
        {
            yield return (messages, isBegun);
            at = (int)(messages.End - First);
        }
    }

    private bool TryFindOpen(int from, out RedeliveryRange messages, out bool isBegun)
    {
        while (from < Count && !IsSet(Word(from), from))
            from++;
        (messages, isBegun) = (default, false);
        if (from >= Count)
            return false;
        isBegun = IsSet(BegunWord(from), from);
        int end = from + 1;
        while (end < Count && IsSet(Word(end), end) && IsSet(BegunWord(end), end) == isBegun)
            end++;
        messages = new RedeliveryRange(First + from, end - from, Deliveries, 0, Losses, Waits);
        return true;
    }

    private static bool IsSet(ulong word, int at) => (word >> (at & 63) & 1) != 0;

    private static ulong Mask(int at, int end)
    {
        int length = Math.Min(end - at, 64 - (at & 63));
        return ulong.MaxValue >> (64 - length) << (at & 63);
    }

    private ref ulong Word(int at) => ref Count <= 64 ? ref _few : ref _many[at / 64];

    private ref ulong BegunWord(int at) => ref Count <= 64 ? ref _fewBegun : ref _manyBegun[at / 64];
}
