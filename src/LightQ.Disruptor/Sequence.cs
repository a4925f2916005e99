// Unsafe: the word may lie in memory shared with another process, so it is reached by address.
using System.Runtime.CompilerServices;

namespace LightQ.Disruptor;

/// <summary>A position that one thread moves and others watch, alone on its cache lines.</summary>
/// <remarks>
/// Thread-safe. Reads acquire and writes release: a thread that reads a position also sees everything that was written
/// before it. Positions count bytes since the ring was made and only grow; a sequence that is used as a gate must
/// always be at the start of an entry, such as <see cref="RingRun.NextPosition"/>.
/// </remarks>
public sealed unsafe class Sequence
{
    private readonly long* _value;
    private readonly object _owner;

    /// <summary>Creates a sequence of this process.</summary>
    /// <param name="initial">The first value.</param>
    public Sequence(long initial = 0)
    {
        var words = new PinnedWords(2 * ControlBlock.Line);
        _owner = words;
        _value = (long*)(words.Address + ControlBlock.Line - sizeof(long));
        *_value = initial;
    }

    internal Sequence(RingMemory memory, int sharedSlot)
    {
        _owner = memory;
        _value = memory.Control.SharedGate(sharedSlot);
        SharedSlot = sharedSlot;
    }

    /// <summary>The position. Reading acquires, writing releases.</summary>
    public long Value
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => Volatile.Read(ref *_value);
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        set => Volatile.Write(ref *_value, value);
    }

    /// <summary>The slot in the ring's memory, or -1 for a sequence of this process.</summary>
    internal int SharedSlot { get; } = -1;

    /// <summary>Writes the position and waits until every other thread can see it (a full fence).</summary>
    /// <param name="value">The new position.</param>
    public void SetFenced(long value) => Interlocked.Exchange(ref *_value, value);

    /// <summary>
    /// Moves from <paramref name="expected"/> to <paramref name="value"/> if no other thread moved it meanwhile; a full
    /// fence.
    /// </summary>
    /// <param name="expected">The position it must still have.</param>
    /// <param name="value">The new position.</param>
    /// <returns>True if it moved.</returns>
    public bool TryMove(long expected, long value) =>
        Interlocked.CompareExchange(ref *_value, value, expected) == expected;

    /// <summary>True if the sequence lies in this ring's memory.</summary>
    internal bool IsIn(RingMemory memory) => ReferenceEquals(_owner, memory);

    /// <inheritdoc/>
    public override string ToString() => Value.ToString(System.Globalization.CultureInfo.InvariantCulture);
}
