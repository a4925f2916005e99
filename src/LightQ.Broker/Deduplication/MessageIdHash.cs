using System.Buffers.Binary;
using LightQ.Storage;

namespace LightQ.Broker.Deduplication;

/// <summary><see cref="SipHash"/> of an id, with a result of 128 bits.</summary>
/// <remarks>Under a key that nobody knows, nobody finds two ids with the same hash. The framework's SHA-256 would do as well and takes ten times as long for an id.</remarks>
internal static class MessageIdHash
{
    /// <summary>Computes it.</summary>
    /// <param name="key">The key.</param>
    /// <param name="bytes">What it is of.</param>
    public static UInt128 Compute(UInt128 key, ReadOnlySpan<byte> bytes)
    {
        var hash = new SipHash((ulong)key, (ulong)(key >> 64));
        hash.Widen();
        ulong last = (ulong)bytes.Length << 56;
        for (; bytes.Length >= sizeof(ulong); bytes = bytes[sizeof(ulong)..])
            hash.Absorb(BinaryPrimitives.ReadUInt64LittleEndian(bytes));
        for (int i = 0; i < bytes.Length; i++)
            last |= (ulong)bytes[i] << (8 * i);
        hash.Absorb(last);
        return hash.FinishWide();
    }
}
