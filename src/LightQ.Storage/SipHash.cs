using System.Buffers.Binary;
using System.Numerics;
using System.Runtime.CompilerServices;

namespace LightQ.Storage;

/// <summary>SipHash-2-4: without its key, a client cannot choose inputs for a hash.</summary>
/// <remarks>
/// By Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012, and its reference implementation. Neither the
/// framework nor System.IO.Hashing has it; SHA-256 would do as well, and takes ten times as long for short inputs.
/// The state is four locals, and what works on them is inlined: in memory it takes ten times as long.
/// </remarks>
internal static class SipHash
{
    private const ulong Wide = 0xEE;

    /// <summary>The 64 bits of some words of eight bytes, which are little-endian.</summary>
    /// <param name="low">The key's first eight bytes.</param>
    /// <param name="high">Its last eight.</param>
    /// <param name="words">What it is of.</param>
    public static ulong Compute64(ulong low, ulong high, ReadOnlySpan<ulong> words)
    {
        // The four initial values are "somepseudorandomlygeneratedbytes" in the definition of SipHash.
        ulong v0 = low ^ 0x736F6D6570736575,
            v1 = high ^ 0x646F72616E646F6D;
        ulong v2 = low ^ 0x6C7967656E657261,
            v3 = high ^ 0x7465646279746573;
        foreach (ulong word in words)
            Absorb(ref v0, ref v1, ref v2, ref v3, word);
        Absorb(ref v0, ref v1, ref v2, ref v3, (ulong)(words.Length * sizeof(ulong)) << 56);
        v2 ^= 0xFF;
        return Finish(ref v0, ref v1, ref v2, ref v3);
    }

    /// <summary>The 128 bits of some bytes.</summary>
    /// <param name="key">The key.</param>
    /// <param name="bytes">What it is of.</param>
    public static UInt128 Compute128(UInt128 key, ReadOnlySpan<byte> bytes)
    {
        ulong low = (ulong)key,
            high = (ulong)(key >> 64);
        ulong v0 = low ^ 0x736F6D6570736575,
            v1 = high ^ 0x646F72616E646F6D ^ Wide;
        ulong v2 = low ^ 0x6C7967656E657261,
            v3 = high ^ 0x7465646279746573;
        ulong last = (ulong)bytes.Length << 56;
        for (; bytes.Length >= sizeof(ulong); bytes = bytes[sizeof(ulong)..])
            Absorb(ref v0, ref v1, ref v2, ref v3, BinaryPrimitives.ReadUInt64LittleEndian(bytes));
        for (int i = 0; i < bytes.Length; i++)
            last |= (ulong)bytes[i] << (8 * i);
        Absorb(ref v0, ref v1, ref v2, ref v3, last);
        v2 ^= Wide;
        ulong first = Finish(ref v0, ref v1, ref v2, ref v3);
        v1 ^= 0xDD;
        return new UInt128(Finish(ref v0, ref v1, ref v2, ref v3), first);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static void Absorb(ref ulong v0, ref ulong v1, ref ulong v2, ref ulong v3, ulong word)
    {
        v3 ^= word;
        Round(ref v0, ref v1, ref v2, ref v3);
        Round(ref v0, ref v1, ref v2, ref v3);
        v0 ^= word;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static ulong Finish(ref ulong v0, ref ulong v1, ref ulong v2, ref ulong v3)
    {
        for (int i = 0; i < 4; i++)
            Round(ref v0, ref v1, ref v2, ref v3);
        return v0 ^ v1 ^ v2 ^ v3;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static void Round(ref ulong v0, ref ulong v1, ref ulong v2, ref ulong v3)
    {
        v0 += v1;
        v1 = BitOperations.RotateLeft(v1, 13) ^ v0;
        v0 = BitOperations.RotateLeft(v0, 32);
        v2 += v3;
        v3 = BitOperations.RotateLeft(v3, 16) ^ v2;
        v0 += v3;
        v3 = BitOperations.RotateLeft(v3, 21) ^ v0;
        v2 += v1;
        v1 = BitOperations.RotateLeft(v1, 17) ^ v2;
        v2 = BitOperations.RotateLeft(v2, 32);
    }
}
