// Unsafe: shared gates are words in the ring's memory.
using System.Numerics;

namespace LightQ.Disruptor;

/// <summary>
/// The sequences that producers must not overtake: this process's in a copy-on-write array, shared ones in the ring's
/// memory.
/// </summary>
/// <remarks>
/// Adding and removing take a lock; producers read without one, and only when their cached limit does not suffice.
/// </remarks>
internal sealed unsafe class GateSet(RingMemory memory)
{
    private readonly Lock _lock = new();
    private readonly RingMemory _memory = memory;
    private readonly ControlBlock _control = memory.Control;
    private Sequence[] _local = [];

    public int Count =>
        Volatile.Read(ref _local).Length + BitOperations.PopCount((ulong)Volatile.Read(ref *_control.ActiveGates));

    /// <summary>The lowest gate, or <see cref="long.MaxValue"/> without gates.</summary>
    /// <param name="seen">The gates of this process that were looked at, for <see cref="MinimumSince"/>.</param>
    public long Minimum(out Sequence[] seen)
    {
        seen = Volatile.Read(ref _local);
        long minimum = long.MaxValue;
        foreach (Sequence gate in seen)
        {
            minimum = Math.Min(minimum, gate.Value);
        }

        return Math.Min(minimum, LowestShared());
    }

    /// <summary>
    /// A minimum that is also right for gates added since <see cref="Minimum"/>; those that were there have only moved
    /// forward.
    /// </summary>
    public long MinimumSince(Sequence[] seen, long minimum) =>
        ReferenceEquals(Volatile.Read(ref _local), seen) ? Math.Min(minimum, LowestShared()) : Minimum(out _);

    /// <summary>
    /// Makes the gate visible to producers; the caller then checks the tail (see <see cref="OverwriteGuard"/>).
    /// </summary>
    public void Add(Sequence gate)
    {
        if (gate.SharedSlot >= 0)
        {
            Interlocked.Or(ref *_control.ActiveGates, 1L << gate.SharedSlot);
            return;
        }

        lock (_lock)
        {
            if (Array.IndexOf(_local, gate) >= 0)
            {
                throw new ArgumentException("The sequence already gates this ring.", nameof(gate));
            }

            Volatile.Write(ref _local, [.. _local, gate]);
        }

        Interlocked.MemoryBarrier();
    }

    public bool Remove(Sequence gate)
    {
        if (gate.SharedSlot >= 0)
        {
            long bit = 1L << gate.SharedSlot;
            if (!gate.IsIn(_memory) || (Interlocked.And(ref *_control.ActiveGates, ~bit) & bit) == 0)
            {
                return false;
            }

            Interlocked.And(ref *_control.ReservedGates, ~bit);
            return true;
        }

        lock (_lock)
        {
            int index = Array.IndexOf(_local, gate);
            if (index < 0)
            {
                return false;
            }

            Volatile.Write(ref _local, [.. _local[..index], .. _local[(index + 1)..]]);
            return true;
        }
    }

    /// <summary>Takes a free shared gate for the caller, or null when all are taken.</summary>
    public Sequence? TryReserveShared()
    {
        while (true)
        {
            long reserved = Volatile.Read(ref *_control.ReservedGates);
            int slot = BitOperations.TrailingZeroCount(~reserved);
            if (slot >= ControlBlock.SharedGateCount)
            {
                return null;
            }

            if (Interlocked.CompareExchange(ref *_control.ReservedGates, reserved | (1L << slot), reserved) == reserved)
            {
                return new Sequence(_memory, slot);
            }
        }
    }

    public void ClearShared()
    {
        Interlocked.Exchange(ref *_control.ActiveGates, 0);
        Interlocked.Exchange(ref *_control.ReservedGates, 0);
    }

    private long LowestShared()
    {
        long minimum = long.MaxValue;
        for (ulong active = (ulong)Volatile.Read(ref *_control.ActiveGates); active != 0; active &= active - 1)
        {
            minimum = Math.Min(
                minimum,
                Volatile.Read(ref *_control.SharedGate(BitOperations.TrailingZeroCount(active)))
            );
        }

        return minimum;
    }
}
