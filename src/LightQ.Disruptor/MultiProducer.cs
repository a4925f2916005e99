// Unsafe: entries and cursors are reached by address in the ring's memory.
using System.Runtime.CompilerServices;

namespace LightQ.Disruptor;

/// <summary>Claims and publishes for any number of producers, none of which waits for another.</summary>
/// <remarks>
/// <para>
/// Room is taken by compare-and-swap on the claimed cursor. An entry that is complete but not at the head leaves a bit
/// (one per 8 bytes of ring); the thread that moves the head then also takes the bits that follow it.
/// </para>
/// <para>
/// No advance is lost: a publisher sets its bit, fences, reads the head; a thread that moves the head writes it,
/// fences, reads the bit there. Clearing a bit is what makes one thread the owner of the next step. A thread that slept
/// may clear the bit of an entry a lap later; it notices that the head is elsewhere, puts the bit back and looks again.
/// </para>
/// </remarks>
internal sealed unsafe class MultiProducer
{
    private readonly byte* _data;
    private readonly long* _bits;
    private readonly long* _claimed;
    private readonly long* _published;
    private readonly int _mask;
    private readonly OverwriteGuard _guard;
    private readonly Sequence _limit;

    public MultiProducer(RingMemory memory, OverwriteGuard guard)
    {
        _data = memory.Pointer;
        _bits = memory.PublishedBits();
        _claimed = memory.Control.Claimed;
        _published = memory.Control.Published;
        _mask = memory.Capacity - 1;
        _guard = guard;
        _limit = new Sequence(long.MinValue);
    }

    public ClaimResult TryClaim(int length, out RingClaim claim)
    {
        while (true)
        {
            long start = Volatile.Read(ref *_claimed);
            int index = (int)(start & _mask);
            int padding = index + length > _mask + 1 ? _mask + 1 - index : 0;
            long position = start + padding;
            long end = position + length;
            if (end > _limit.Value && !RaiseLimit(end))
            {
                claim = default;
                return ClaimResult.Full;
            }

            if (Interlocked.CompareExchange(ref *_claimed, end, start) != start)
            {
                continue;
            }

            if ((start ^ end) >> _guard.ChunkShift != 0)
            {
                _guard.Mark(start, position);
                _guard.Mark(position, end);
            }

            if (padding != 0)
            {
                EntryWord.WritePadding(_data + index, padding);
                Complete(start);
            }

            claim = new RingClaim(_data + (position & _mask), position, length);
            return ClaimResult.Claimed;
        }
    }

    public void Publish(in RingClaim claim)
    {
        EntryWord.Write(claim.Pointer, claim.Length);
        Complete(claim.Position);
    }

    public void Abort(in RingClaim claim)
    {
        EntryWord.WritePadding(claim.Pointer, claim.Length);
        Complete(claim.Position);
    }

    private bool RaiseLimit(long end)
    {
        long limit = _guard.Limit(end);
        if (limit < end)
        {
            return false;
        }

        long seen = _limit.Value;
        while (seen < limit && !_limit.TryMove(seen, limit))
        {
            seen = _limit.Value;
        }

        return true;
    }

    private void Complete(long position)
    {
        if (Volatile.Read(ref *_published) == position)
        {
            // At the head: its bit is not set, so nobody else can take this step.
            StepFrom(position);
        }
        else
        {
            Interlocked.Or(ref Word(position), Bit(position));
        }

        while (TryAdvance(Volatile.Read(ref *_published))) { }
    }

    /// <summary>Takes the step from the head, if the entry there is complete and no other thread takes it.</summary>
    /// <param name="head">The head as read a moment, perhaps laps, ago.</param>
    /// <returns>True to look at the head again.</returns>
    internal bool TryAdvance(long head)
    {
        ref long word = ref Word(head);
        if ((Volatile.Read(ref word) & Bit(head)) == 0 || (Interlocked.And(ref word, ~Bit(head)) & Bit(head)) == 0)
        {
            return false;
        }

        long now = Volatile.Read(ref *_published);
        if (((now ^ head) & _mask) == 0)
        {
            StepFrom(now);
        }
        else
        {
            Interlocked.Or(ref word, Bit(head));
        }

        return true;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void StepFrom(long head) =>
        Interlocked.Exchange(ref *_published, head + EntryWord.Length(EntryWord.Read(_data + (head & _mask))));

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private ref long Word(long position) => ref _bits[(position & _mask) >> 9];

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static long Bit(long position) => 1L << (int)((position >> 3) & 63);
}
