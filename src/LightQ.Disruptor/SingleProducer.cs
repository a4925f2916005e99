// Unsafe: entries are written at addresses in the ring's memory.
using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace LightQ.Disruptor;

/// <summary>Claims and publishes for one producer at a time.</summary>
/// <remarks>
/// The fast path is one compare: a claim that ends below <see cref="State.FastEnd"/> stays within its chunk (so it
/// neither wraps nor needs a mark) and within the limit (so it overwrites only what the gates have released). An
/// abandoned claim needs no clean-up: the next one starts where the last publication ended.
/// </remarks>
internal sealed unsafe class SingleProducer
{
    private readonly byte* _data;
    private readonly int _mask;
    private readonly long* _published;
    private readonly OverwriteGuard _guard;
    private State _state;

    public SingleProducer(RingMemory memory, OverwriteGuard guard)
    {
        _data = memory.Pointer;
        _mask = memory.Capacity - 1;
        _published = memory.Control.Published;
        _guard = guard;
        _state.Next = Volatile.Read(ref *_published);
        _state.Limit = long.MinValue; // Not from the tail: a gate may stand below it.
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ClaimResult TryClaim(int length, out RingClaim claim)
    {
        long start = _state.Next;
        if (start + length < _state.FastEnd)
        {
            claim = new RingClaim(_data + (start & _mask), start, length);
            return ClaimResult.Claimed;
        }

        return ClaimAcrossChunk(length, out claim);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Publish(in RingClaim claim)
    {
        Debug.Assert(
            claim.Position >= _state.Next && claim.Position - _state.Next <= _mask / 2,
            "published once, and in order"
        );
        EntryWord.Write(claim.Pointer, claim.Length);
        long end = claim.Position + claim.Length;
        _state.Next = end;
        Volatile.Write(ref *_published, end);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private ClaimResult ClaimAcrossChunk(int length, out RingClaim claim)
    {
        ref State state = ref _state;
        long start = state.Next;
        int index = (int)(start & _mask);
        int padding = index + length > _mask + 1 ? _mask + 1 - index : 0;
        long position = start + padding;
        long end = position + length;
        if (end > state.Limit)
        {
            long limit = _guard.Limit(end);
            if (limit < end)
            {
                claim = default;
                return ClaimResult.Full;
            }

            state.Limit = limit;
        }

        if (padding != 0)
        {
            EntryWord.WritePadding(_data + index, padding);
            _guard.Mark(start, position);
        }

        int shift = _guard.ChunkShift;
        if ((start ^ end) >> shift == 0)
        {
            state.FastEnd = Math.Min(state.Limit + 1, ((start >> shift) + 1) << shift);
        }
        else
        {
            _guard.Mark(position, end);
            state.FastEnd = long.MinValue;
        }

        claim = new RingClaim(_data + (position & _mask), position, length);
        return ClaimResult.Claimed;
    }

    /// <summary>The producer's own words, away from those that readers load.</summary>
    [StructLayout(LayoutKind.Explicit, Size = 3 * ControlBlock.Line)]
    private struct State
    {
        [FieldOffset(ControlBlock.Line)]
        public long Next;

        [FieldOffset(ControlBlock.Line + 8)]
        public long FastEnd;

        [FieldOffset(ControlBlock.Line + 16)]
        public long Limit;
    }
}
