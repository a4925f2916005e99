using System.Numerics;

namespace LightQ.Storage;

/// <summary>
/// The steps of SipHash-2-4 (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012, and its reference
/// implementation) on its four words of state, which the caller holds in locals.
/// </summary>
internal static class SipHash
{
    /// <summary>Takes a word in.</summary>
    public static void Absorb(ref ulong v0, ref ulong v1, ref ulong v2, ref ulong v3, ulong word)
    {
        v3 ^= word;
        Round(ref v0, ref v1, ref v2, ref v3);
        Round(ref v0, ref v1, ref v2, ref v3);
        v0 ^= word;
    }

    /// <summary>One round; four end the hash.</summary>
    public static void Round(ref ulong v0, ref ulong v1, ref ulong v2, ref ulong v3)
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
