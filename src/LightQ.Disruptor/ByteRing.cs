// Unsafe: entries are read and written in place, at addresses in the ring's memory.
using System.Numerics;
using System.Runtime.CompilerServices;

namespace LightQ.Disruptor;

/// <summary>
/// A ring of variable-size entries: producers claim, write and publish in place; consumers read runs of entries in
/// place.
/// </summary>
/// <remarks>
/// <para>
/// Positions are bytes since the ring was made and only grow. Every entry begins with its length (u32, a multiple of 8,
/// counting itself), is 8-byte aligned and contiguous, so a run of entries is a plain range of memory with nothing
/// added.
/// </para>
/// <para>
/// Nothing here blocks or allocates. Without gates (<see cref="AddGate"/>) the ring overwrites its oldest entries; a
/// gate holds back producers, which then get <see cref="ClaimResult.Full"/>. Reading is thread-safe; producing is as
/// <see cref="RingProducers"/> says.
/// </para>
/// </remarks>
/// <example>
/// <code>
/// using RingMemory memory = RingMemory.Native(1 &lt;&lt; 20);
/// var ring = new ByteRing(memory, maxEntryLength: 64 * 1024);
/// if (ring.TryClaim(64, out RingClaim claim) == ClaimResult.Claimed)
/// {
///     message.CopyTo(claim.Span[8..]);
///     ring.Publish(claim);
/// }
///
/// long next = ring.Tail;
/// while (ring.TryGetRun(next, 256 * 1024, out RingRun run))
/// {
///     foreach (ReadOnlySpan&lt;byte&gt; entry in run) { /* ... */ }
///     next = run.NextPosition;
/// }
/// </code>
/// </example>
public sealed unsafe class ByteRing
{
    private readonly byte* _data;
    private readonly int _mask;
    private readonly uint _maxUnits;
    private readonly long* _published;
    private readonly long* _tail;
    private readonly SingleProducer? _single;
    private readonly MultiProducer _multi;
    private readonly BlockingWaitStrategy? _blocking;
    private readonly OverwriteGuard _guard;
    private readonly GateSet _gates;
    private long _untouchedFrom;

    /// <summary>Creates a ring over memory, or joins the ring that the memory already holds.</summary>
    /// <param name="memory">The bytes; the caller disposes them after the last use of the ring.</param>
    /// <param name="maxEntryLength">
    /// The longest entry in bytes, its length word included; rounded up to a multiple of 8.
    /// </param>
    /// <param name="producers">How many threads may claim at a time.</param>
    /// <param name="waitStrategy">How <see cref="SequenceBarrier"/>s of this ring wait; yielding by default.</param>
    /// <exception cref="ArgumentException">The memory holds fewer than four of the longest entries.</exception>
    /// <exception cref="InvalidOperationException">
    /// The memory already carries a ring made with other arguments.
    /// </exception>
    public ByteRing(
        RingMemory memory,
        int maxEntryLength,
        RingProducers producers = RingProducers.Single,
        WaitStrategy? waitStrategy = null
    )
    {
        ArgumentNullException.ThrowIfNull(memory);
        ArgumentOutOfRangeException.ThrowIfLessThan(maxEntryLength, EntryWord.Alignment);
        if (maxEntryLength > memory.Capacity / 4)
        {
            throw new ArgumentException(
                $"A ring of {memory.Capacity} bytes holds entries up to {memory.Capacity / 4} bytes, for it must hold "
                    + $"four; maxEntryLength is {maxEntryLength}.",
                nameof(maxEntryLength)
            );
        }

        Memory = memory;
        MaxEntryLength = (maxEntryLength + EntryWord.Alignment - 1) & -EntryWord.Alignment;
        Producers = producers;
        WaitStrategy = waitStrategy ?? new YieldingWaitStrategy();
        memory.Control.AdoptShape(producers, MaxEntryLength);
        _data = memory.Pointer;
        _mask = memory.Capacity - 1;
        _maxUnits = (uint)MaxEntryLength / EntryWord.Alignment;
        _published = memory.Control.Published;
        _tail = memory.Control.Tail;
        _blocking = WaitStrategy as BlockingWaitStrategy;
        _gates = new GateSet(memory);
        _guard = new OverwriteGuard(memory, _gates);
        _single = producers == RingProducers.Single ? new SingleProducer(memory, _guard) : null;
        _multi = producers == RingProducers.Single ? null! : new MultiProducer(memory, _guard);
        _untouchedFrom = Published;
    }

    /// <summary>The bytes under the ring.</summary>
    public RingMemory Memory { get; }

    /// <summary>The size of the ring in bytes, a power of two.</summary>
    public int Capacity => _mask + 1;

    /// <summary>The longest entry in bytes, its length word included.</summary>
    public int MaxEntryLength { get; }

    /// <summary>How many threads may claim at a time.</summary>
    public RingProducers Producers { get; }

    /// <summary>How barriers of this ring wait.</summary>
    public WaitStrategy WaitStrategy { get; }

    /// <summary>Readers may read below this position. Only grows; reading it acquires what was published.</summary>
    public long Published
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => Volatile.Read(ref *_published);
    }

    /// <summary>
    /// The start of the oldest entry that no producer may be overwriting; <see cref="Published"/> when there is none.
    /// </summary>
    public long Tail => Volatile.Read(ref *_tail);

    /// <summary>How many gates hold back producers now.</summary>
    public int GateCount => _gates.Count;

    /// <summary>
    /// Bytes of memory that entries have touched since the ring was made or <see cref="TryRelease"/> last gave them
    /// back, at most <see cref="Capacity"/>.
    /// </summary>
    public long TouchedBytes => Math.Min(Capacity, Published - Volatile.Read(ref _untouchedFrom));

    /// <summary>Claims room for one entry. Never blocks.</summary>
    /// <param name="length">Bytes of the whole entry: a positive multiple of 8.</param>
    /// <param name="claim">The room, to be written in full and then published (or aborted).</param>
    /// <returns>Whether the room was claimed, and if not, why.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The length is not a positive multiple of 8.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ClaimResult TryClaim(int length, out RingClaim claim)
    {
        // Rotating moves misaligned bits and the sign to the top: one compare refuses zero, negative, misaligned and
        // too long.
        if (BitOperations.RotateRight((uint)length, 3) - 1 >= _maxUnits)
        {
            return Refuse(length, out claim);
        }

        return _single is { } single ? single.TryClaim(length, out claim) : _multi.TryClaim(length, out claim);
    }

    /// <summary>Makes a claimed entry readable; writes its length into its first four bytes.</summary>
    /// <remarks>
    /// With one producer the entry is readable on return. With several, entries become readable in the order of their
    /// claims: this one as soon as those before it are published or aborted; publishing never waits for them.
    /// </remarks>
    /// <param name="claim">The claim, written in full. Each is published or aborted once.</param>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Publish(in RingClaim claim)
    {
        if (_single is { } single)
        {
            single.Publish(claim);
        }
        else
        {
            _multi.Publish(claim);
        }

        _blocking?.Signal();
    }

    /// <summary>
    /// Gives up a claim: it becomes padding that readers skip, so an exception between claim and publication never
    /// blocks the ring.
    /// </summary>
    /// <param name="claim">The claim, neither published nor aborted before.</param>
    public void Abort(in RingClaim claim)
    {
        if (_single is null)
        {
            _multi.Abort(claim);
            _blocking?.Signal();
        }
    }

    /// <summary>
    /// Finds the longest run of whole published entries from a position on, without a break in memory.
    /// </summary>
    /// <param name="from">
    /// The start of an entry: <see cref="Tail"/>, <see cref="Published"/> or <see cref="RingRun.NextPosition"/> of the
    /// run before.
    /// </param>
    /// <param name="maxBytes">The most to return; a longer entry is still returned, alone.</param>
    /// <param name="run">
    /// The run; if there is none, it is empty and its <see cref="RingRun.NextPosition"/> is where to go on, past
    /// padding.
    /// </param>
    /// <returns>
    /// False if nothing is published at <paramref name="from"/>, or, for a reader without a gate, if it was overwritten
    /// meanwhile (<see cref="IsIntact"/> reports that).
    /// </returns>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryGetRun(long from, int maxBytes, out RingRun run) => TryGetRun(from, Published, maxBytes, out run);

    /// <summary>
    /// As <see cref="TryGetRun(long, int, out RingRun)"/>, up to a position before <see cref="Published"/>: another
    /// consumer's, or how far entries are durable.
    /// </summary>
    /// <param name="from">The start of an entry.</param>
    /// <param name="end">Where to stop: the start or end of an entry, at most <see cref="Published"/>.</param>
    /// <param name="maxBytes">The most to return; a longer entry is still returned, alone.</param>
    /// <param name="run">The run, or an empty one.</param>
    /// <returns>False if there is nothing to read.</returns>
    public bool TryGetRun(long from, long end, int maxBytes, out RingRun run)
    {
        int index = (int)(from & _mask);
        long available = end - from;
        if (available <= 0)
        {
            run = new RingRun(Memory, from, 0, from);
            return false;
        }

        // One producer never aborts into the ring, so padding only ends a lap: short of that, all that is published is
        // one run.
        if (_single is not null && available <= maxBytes && index + available < Capacity)
        {
            run = new RingRun(Memory, from, (int)available, end);
            return true;
        }

        return WalkRun(from, end, maxBytes, out run);
    }

    /// <summary>
    /// Whether everything from a position on is still what was published. Call it after copying, when no gate holds the
    /// position.
    /// </summary>
    /// <param name="position">Where the copied run began.</param>
    /// <returns>False if a producer may have written over it.</returns>
    public bool IsIntact(long position)
    {
        // Pairs with the producer's fence between moving the tail and writing: who read new bytes sees the new tail.
        Volatile.ReadBarrier();
        return Volatile.Read(ref *_tail) <= position;
    }

    /// <summary>Holds back producers from a position on. Thread-safe, also while producers claim.</summary>
    /// <param name="gate">
    /// The consumer's sequence, which the consumer then moves forward; see <see cref="Sequence"/>.
    /// </param>
    /// <param name="position">The start of an entry, from <see cref="Tail"/> to <see cref="Published"/>.</param>
    /// <returns>
    /// The position actually held, which <paramref name="gate"/> now has: later than requested if those entries are
    /// overwritten.
    /// </returns>
    /// <exception cref="ArgumentOutOfRangeException">The position is not yet published.</exception>
    /// <exception cref="ArgumentException">The sequence already gates this ring.</exception>
    public long AddGate(Sequence gate, long position)
    {
        ArgumentNullException.ThrowIfNull(gate);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(position, Published);
        gate.Value = position;
        _gates.Add(gate);
        long tail = Tail;
        if (tail > position)
        {
            gate.SetFenced(tail);
            return tail;
        }

        return position;
    }

    /// <summary>
    /// Holds back the producers of every process that has this ring. A ring in shared memory has 16 such gates; any
    /// other ring has any number.
    /// </summary>
    /// <param name="position">The start of an entry, from <see cref="Tail"/> to <see cref="Published"/>.</param>
    /// <param name="gate">The gate, whose value is the position actually held; null if all are taken.</param>
    /// <returns>False if all are taken.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The position is not yet published.</exception>
    public bool TryAddSharedGate(long position, [System.Diagnostics.CodeAnalysis.NotNullWhen(true)] out Sequence? gate)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan(position, Published);
        gate = Memory.IsShared ? _gates.TryReserveShared() : new Sequence();
        if (gate is null)
        {
            return false;
        }

        AddGate(gate, position);
        return true;
    }

    /// <summary>Stops holding back producers. Thread-safe; what the gate held may be overwritten at once.</summary>
    /// <param name="gate">A gate of this ring, local or shared.</param>
    /// <returns>False if it was not a gate of this ring.</returns>
    public bool RemoveGate(Sequence gate)
    {
        ArgumentNullException.ThrowIfNull(gate);
        return _gates.Remove(gate);
    }

    /// <summary>
    /// Removes all shared gates. For a process that takes over after another has died with gates in place.
    /// </summary>
    public void ClearSharedGates() => _gates.ClearShared();

    /// <summary>
    /// Empties the ring and gives its pages back to the system, for example when the ring was not used for a while.
    /// </summary>
    /// <remarks>
    /// No claim may be under way (call it as a producer would: from its thread or under its lock). For readers without
    /// a gate, their position is no longer intact. Works only for native memory on Linux. If a gate is added at this
    /// very moment, it may return false although the ring is empty for new readers.
    /// </remarks>
    /// <returns>False if a gate is still before the end, or if this memory cannot be given back.</returns>
    public bool TryRelease()
    {
        long published = Published;
        if (Memory is not NativeRingMemory || _gates.Minimum(out _) < published)
        {
            return false;
        }

        _guard.RaiseTail(published);
        Interlocked.MemoryBarrier();
        if (_gates.Minimum(out _) < published || !Memory.Discard())
        {
            return false;
        }

        Volatile.Write(ref _untouchedFrom, published);
        return true;
    }

    private static ClaimResult Refuse(int length, out RingClaim claim)
    {
        if (length <= 0 || length % EntryWord.Alignment != 0)
        {
            throw new ArgumentOutOfRangeException(
                nameof(length),
                length,
                "The length of an entry is a positive multiple of 8."
            );
        }

        claim = default;
        return ClaimResult.TooLarge;
    }

    private bool WalkRun(long from, long end, int maxBytes, out RingRun run)
    {
        from = SkipPadding(from, end);
        int index = (int)(from & _mask);
        long available = Math.Min(end - from, Capacity - index);
        int length = 0;
        while (length < available)
        {
            uint word = EntryWord.Read(_data + index + length);
            int entry = EntryWord.Length(word);
            if (
                EntryWord.IsPadding(word)
                || !EntryWord.IsPlausible(entry, available - length)
                || (length != 0 && length + entry > maxBytes)
            )
            {
                break;
            }

            length += entry;
        }

        run = new RingRun(Memory, from, length, length == 0 ? from : SkipPadding(from + length, end));
        return length != 0;
    }

    private long SkipPadding(long position, long end)
    {
        while (position < end)
        {
            uint word = EntryWord.Read(_data + (position & _mask));
            int length = EntryWord.Length(word);
            if (
                !EntryWord.IsPadding(word)
                || !EntryWord.IsPlausible(length, Math.Min(end - position, Capacity - (position & _mask)))
            )
            {
                break;
            }

            position += length;
        }

        return position;
    }
}
