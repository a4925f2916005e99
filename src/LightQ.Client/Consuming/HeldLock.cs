using System.Numerics;

namespace LightQ.Client.Consuming;

/// <summary>The lock of one delivery, as its consumer knows it. Guarded by its <see cref="HeldLocks"/>.</summary>
/// <remarks>
/// The reader that hands its messages out reads <see cref="Deadline"/> and writes <see cref="KeepUntil"/>,
/// <see cref="Next"/> and <see cref="End"/> without the gate. Times are timestamps of the client's clock, which no step
/// of the wall clock moves.
/// </remarks>
internal sealed class HeldLock
{
    private ulong _few;
    private ulong[] _many = [];
    private long _deadline;
    private long _keepUntil;
    private long _next;
    private long _end;

    /// <summary>The delivery.</summary>
    public uint Id { get; private set; }

    /// <summary>Its first message.</summary>
    public long First { get; private set; }

    /// <summary>How long the lock lasts from when it began or was renewed.</summary>
    public long Duration { get; private set; }

    /// <summary>How many of the delivery's messages are not settled.</summary>
    public int Open { get; private set; }

    /// <summary>When the lock runs out.</summary>
    public long Deadline
    {
        get => Volatile.Read(ref _deadline);
        set => Volatile.Write(ref _deadline, value);
    }

    /// <summary>Until when it is renewed for messages that the application has.</summary>
    public long KeepUntil
    {
        get => Volatile.Read(ref _keepUntil);
        set => Volatile.Write(ref _keepUntil, value);
    }

    /// <summary>The first message that was not handed out.</summary>
    public long Next
    {
        get => Volatile.Read(ref _next);
        set => Volatile.Write(ref _next, value);
    }

    /// <summary>One behind the last message that is to be handed out.</summary>
    public long End
    {
        get => Volatile.Read(ref _end);
        set => Volatile.Write(ref _end, value);
    }

    /// <summary>When it is looked at next: to be renewed, or to run out.</summary>
    public long Due { get; set; }

    /// <summary>When a renewal was asked for that is not answered; 0 for none.</summary>
    public long AskedAt { get; set; }

    /// <summary>Whether a reader hands its messages out.</summary>
    public bool IsRead { get; set; }

    /// <summary>Whether it is among the locks that are held.</summary>
    public bool IsHeld { get; set; }

    /// <summary>Hear of its end; null for none.</summary>
    public List<ILockHolder>? Holders { get; set; }

    /// <summary>Its neighbours in the order of <see cref="Due"/>.</summary>
    public HeldLock? Before { get; set; }

    /// <inheritdoc cref="Before"/>
    public HeldLock? Behind { get; set; }

    /// <summary>Whether some of its messages were not handed out.</summary>
    public bool IsWaiting => Next < End;

    /// <summary>When its time is half over.</summary>
    public long HalfTime => Deadline - (Duration / 2);

    private int Count { get; set; }

    private int Words => (Count + 63) / 64;

    /// <summary>Makes it a new delivery's.</summary>
    public void Begin(uint id, long first, int count, long now, long duration)
    {
        (Id, First, Count, End, Open, Duration) = (id, first, count, first + count, count, duration);
        (Next, KeepUntil, AskedAt, IsRead) = (first, 0, 0, false);
        Deadline = now + duration;
        Due = HalfTime;
        if (Words > 1 && _many.Length < Words)
            _many = new ulong[Words];
        for (int word = 0; word < Words; word++)
            Word(word) = Mask(word, 0, count);
    }

    /// <summary>Notes that messages were settled; those that were before count once.</summary>
    public void Close(long first, uint count)
    {
        int from = (int)Math.Max(0, first - First),
            end = (int)Math.Min(Count, first + count - First);
        for (int word = from / 64; word * 64 < end; word++)
        {
            ulong settled = Word(word) & Mask(word, from, end);
            Word(word) &= ~settled;
            Open -= BitOperations.PopCount(settled);
        }
    }

    /// <summary>Whether one of the delivery's messages is not settled.</summary>
    public bool IsOpen(long offset)
    {
        long at = offset - First;
        return at >= 0 && at < Count && ((Word((int)(at / 64)) >> (int)(at % 64)) & 1) != 0;
    }

    /// <summary>How many messages from one on are not settled, up to an end.</summary>
    public int OpenFrom(long offset, long end)
    {
        long next = offset;
        while (next < end && IsOpen(next))
            next++;
        return (int)(next - offset);
    }

    /// <summary>The first message that is not settled. There must be one.</summary>
    public long FirstOpen()
    {
        int word = 0;
        while (Word(word) == 0)
            word++;
        return First + (word * 64) + BitOperations.TrailingZeroCount(Word(word));
    }

    /// <summary>The bits of a word that belong to a range.</summary>
    private static ulong Mask(int word, int from, int end)
    {
        int low = Math.Max(0, from - (word * 64)),
            high = Math.Min(64, end - (word * 64));
        return low >= high ? 0 : ulong.MaxValue >> (64 - (high - low)) << low;
    }

    private ref ulong Word(int word) => ref Words <= 1 ? ref _few : ref _many[word];
}
