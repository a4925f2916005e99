// Unsafe: the tail and the marks are words in the ring's memory.
using System.Diagnostics;
using System.Numerics;

namespace LightQ.Disruptor;

/// <summary>Decides how far producers may overwrite, and publishes that in the tail before any of them does.</summary>
/// <remarks>
/// <para>
/// <b>Marks.</b> The ring is cut into 64 chunks; for the last boundary crossed at each chunk, the mark is where the
/// next entry begins. So the tail moves to an entry's start without touching the old entries, whose cache lines belong
/// to the readers.
/// </para>
/// <para>
/// <b>Tail against new gates.</b> A producer writes the tail, fences, then reads the gates; a thread that adds a gate
/// writes it, fences, then reads the tail. At least one sees the other: either the producer respects the gate, or the
/// gate learns that its position is gone and moves up. Hence a limit once computed stays valid, whatever gates are
/// added later.
/// </para>
/// </remarks>
internal sealed unsafe class OverwriteGuard(RingMemory memory, GateSet gates)
{
    private readonly ControlBlock _control = memory.Control;
    private readonly int _capacity = memory.Capacity;

    /// <summary>A chunk is 2^shift bytes.</summary>
    public int ChunkShift { get; } =
        BitOperations.Log2((uint)memory.Capacity) - BitOperations.Log2(ControlBlock.MarkCount);

    /// <summary>
    /// Where claims must end (at most) given the gates, with the tail moved accordingly; below <paramref name="end"/>
    /// if the ring is full.
    /// </summary>
    /// <param name="end">Where the caller's claim would end.</param>
    public long Limit(long end)
    {
        long target = end - _capacity;
        long gate = gates.Minimum(out Sequence[] seen);
        if (gate < target || Volatile.Read(ref *_control.Published) < target)
        {
            return long.MinValue;
        }

        long tail = Volatile.Read(ref *_control.Tail);
        if (tail < target)
        {
            tail = Math.Min(TailAtOrAfter(target), gate);
            RaiseTail(tail);
        }

        Interlocked.MemoryBarrier();
        return Math.Min(tail, gates.MinimumSince(seen, gate)) + _capacity;
    }

    /// <summary>
    /// Notes, for every chunk boundary in (start, end], that the next entry begins at <paramref name="end"/>.
    /// </summary>
    /// <remarks>
    /// Before the entry is published, and after the tail has moved (<see cref="Limit"/>): a mark from the last lap is
    /// then no longer needed.
    /// </remarks>
    public void Mark(long start, long end)
    {
        Debug.Assert(Volatile.Read(ref *_control.Tail) >= end - _capacity, "marks change only behind the tail");
        for (long chunk = (start >> ChunkShift) + 1; chunk <= end >> ChunkShift; chunk++)
        {
            Volatile.Write(ref _control.Marks[chunk & (ControlBlock.MarkCount - 1)], end);
        }
    }

    /// <summary>
    /// Moves the tail forward to <paramref name="position"/> unless it is further already; a full fence.
    /// </summary>
    public void RaiseTail(long position)
    {
        long tail = Volatile.Read(ref *_control.Tail);
        while (tail < position)
        {
            long seen = Interlocked.CompareExchange(ref *_control.Tail, position, tail);
            if (seen == tail)
            {
                return;
            }

            tail = seen;
        }
    }

    private long TailAtOrAfter(long target)
    {
        long published = Volatile.Read(ref *_control.Published);
        long boundary = ((target - 1) >> ChunkShift << ChunkShift) + (1L << ChunkShift);
        if (boundary > published)
        {
            return published; // Several producers, and the claim reaches into the last chunk that is published.
        }

        long mark = Volatile.Read(ref _control.Marks[(boundary >> ChunkShift) & (ControlBlock.MarkCount - 1)]);

        // A producer one lap ahead has reused the mark; it has moved the tail past the boundary before that.
        return mark < boundary + (_capacity / 2) ? mark : Volatile.Read(ref *_control.Tail);
    }
}
