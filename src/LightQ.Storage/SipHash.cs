using System.Numerics;
using System.Runtime.CompilerServices;

namespace LightQ.Storage;

/// <summary>
/// SipHash-2-4 as it is computed, word by word (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012, and
/// its reference implementation).
/// </summary>
internal struct SipHash
{
    private const int WideMark = 0xEE, WideEndMark = 0xDD, NarrowEndMark = 0xFF;

    // Four, so that they lie in registers.
    private ulong _v0, _v1, _v2, _v3;

    /// <summary>Begins under a key; the values are "somepseudorandomlygeneratedbytes" in the definition.</summary>
    public SipHash(ulong low, ulong high)
    {
        _v0 = low ^ 0x736F6D6570736575;
        _v1 = high ^ 0x646F72616E646F6D;
        _v2 = low ^ 0x6C7967656E657261;
        _v3 = high ^ 0x7465646279746573;
    }

    /// <summary>Before the first word: the result is to have 128 bits.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Widen() => _v1 ^= WideMark;

    /// <summary>Takes the next word in; the last holds the number of bytes in its highest byte.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Absorb(ulong word)
    {
        _v3 ^= word;
        Round();
        Round();
        _v0 ^= word;
    }

    /// <summary>The result of 64 bits.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ulong Finish()
    {
        _v2 ^= NarrowEndMark;
        return FourRounds();
    }

    /// <summary>The result of 128 bits.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public UInt128 FinishWide()
    {
        _v2 ^= WideMark;
        ulong first = FourRounds();
        _v1 ^= WideEndMark;
        return new UInt128(FourRounds(), first);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private ulong FourRounds()
    {
        Round();
        Round();
        Round();
        Round();
        return _v0 ^ _v1 ^ _v2 ^ _v3;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void Round()
    {
        _v0 += _v1;
        _v1 = BitOperations.RotateLeft(_v1, 13) ^ _v0;
        _v0 = BitOperations.RotateLeft(_v0, 32);
        _v2 += _v3;
        _v3 = BitOperations.RotateLeft(_v3, 16) ^ _v2;
        _v0 += _v3;
        _v3 = BitOperations.RotateLeft(_v3, 21) ^ _v0;
        _v2 += _v1;
        _v1 = BitOperations.RotateLeft(_v1, 17) ^ _v2;
        _v2 = BitOperations.RotateLeft(_v2, 32);
    }
}
