using System.Buffers.Binary;
using LightQ.Storage;

namespace LightQ.Broker.Deduplication;

/// <summary>SipHash-2-4 (<see cref="SipHash"/>) with a result of 128 bits.</summary>
/// <remarks>Under a key that nobody knows, nobody finds two ids with the same hash. The framework's SHA-256 would do as well and takes ten times as long for an id.</remarks>
internal static class MessageIdHash
{
    /// <summary>Computes it.</summary>
    /// <param name="key">The key.</param>
    /// <param name="bytes">What it is of.</param>
    public static UInt128 Compute(UInt128 key, ReadOnlySpan<byte> bytes)
    {
        // The four initial values are "somepseudorandomlygeneratedbytes" in the definition of SipHash.
        ulong low = (ulong)key, high = (ulong)(key >> 64);
        ulong v0 = low ^ 0x736F6D6570736575, v1 = high ^ 0x646F72616E646F6D ^ 0xEE, v2 = low ^ 0x6C7967656E657261, v3 = high ^ 0x7465646279746573;
        ulong last = (ulong)bytes.Length << 56;
        for (; bytes.Length >= sizeof(ulong); bytes = bytes[sizeof(ulong)..])
            SipHash.Absorb(ref v0, ref v1, ref v2, ref v3, BinaryPrimitives.ReadUInt64LittleEndian(bytes));
        for (int i = 0; i < bytes.Length; i++)
            last |= (ulong)bytes[i] << (8 * i);
        SipHash.Absorb(ref v0, ref v1, ref v2, ref v3, last);
        v2 ^= 0xEE;
        ulong first = Finish(ref v0, ref v1, ref v2, ref v3);
        v1 ^= 0xDD;
        return new UInt128(Finish(ref v0, ref v1, ref v2, ref v3), first);
    }

    private static ulong Finish(ref ulong v0, ref ulong v1, ref ulong v2, ref ulong v3)
    {
        for (int i = 0; i < 4; i++)
            SipHash.Round(ref v0, ref v1, ref v2, ref v3);
        return v0 ^ v1 ^ v2 ^ v3;
    }
}
