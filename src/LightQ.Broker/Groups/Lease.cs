using System.Numerics;

namespace LightQ.Broker.Groups;

/// <summary>
/// A delivery that is one member's until it settles each of its messages or the lock runs out. Guarded by its group's
/// gate.
/// </summary>
internal sealed class Lease
{
    private ulong _few;
    private ulong[] _many = [];

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

    /// <summary>How often its messages have been delivered, this time included.</summary>
    public ushort Deliveries { get; private set; }

    /// <summary>When the lock runs out, in unix microseconds.</summary>
    public long Deadline { get; set; }

    /// <summary>The lease before and behind it in <see cref="LeaseList"/>.</summary>
    public Lease? Previous { get; set; }

    /// <inheritdoc cref="Previous"/>
    public Lease? Next { get; set; }

    /// <summary>Makes it a new delivery.</summary>
    public void Begin(uint id, ExplicitMember member, long first, int count, ushort deliveries, long deadline)
    {
        (Id, Member, First, Count, Open, Deliveries, Deadline) = (
            id,
            member,
            first,
            count,
            count,
            deliveries,
            deadline
        );
        if (count <= 64)
        {
            _few = ulong.MaxValue >> (64 - count);
            return;
        }
        int words = (count + 63) / 64;
        if (_many.Length < words)
            _many = new ulong[words];
        _many.AsSpan(0, words).Fill(ulong.MaxValue);
        _many[words - 1] = ulong.MaxValue >> ((64 - (count & 63)) & 63);
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

    /// <summary>Takes the first messages out that lie together.</summary>
    /// <returns>False when none is left.</returns>
    public bool TryTakeOpen(out long first, out int count)
    {
        (first, count) = (0, 0);
        if (Open == 0)
            return false;
        int begin = 0;
        while (Word(begin) == 0)
            begin += 64;
        begin += BitOperations.TrailingZeroCount(Word(begin));
        int end = begin + 1;
        while (end < Count && (Word(end) >> (end & 63) & 1) != 0)
            end++;
        (first, count) = (First + begin, end - begin);
        Close(first, (uint)count);
        return true;
    }

    /// <summary>The ranges that are open, in order.</summary>
    public IEnumerable<(long First, int Count)> OpenRanges()
    {
        for (int at = 0; at < Count; )
        {
            if ((Word(at) >> (at & 63) & 1) == 0)
            {
                at++;
                continue;
            }
            int begin = at;
            while (at < Count && (Word(at) >> (at & 63) & 1) != 0)
                at++;
            yield return (First + begin, at - begin);
        }
    }

    private static ulong Mask(int at, int end)
    {
        int length = Math.Min(end - at, 64 - (at & 63));
        return ulong.MaxValue >> (64 - length) << (at & 63);
    }

    private ref ulong Word(int at) => ref Count <= 64 ? ref _few : ref _many[at / 64];
}
