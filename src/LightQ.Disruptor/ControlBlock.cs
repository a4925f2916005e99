// Unsafe: the cursors live at fixed addresses, which for a mapped ring several processes share.
namespace LightQ.Disruptor;

/// <summary>The cursors of a ring: one page that starts as zeros, each hot word alone on two cache lines.</summary>
/// <remarks>
/// <code>
///    0  i64 format    signature, version and log2(capacity); written once, by compare-and-swap from zero
///    8  i64 shape     producers (upper half) and largest entry (lower half); likewise
///  128  i64 claimed   end of the last claim (rings with several producers only)
///  256  i64 published readers may read below this position
///  384  i64 tail      oldest position that no producer may be overwriting
///  512  i64 reserved  one bit per shared gate that somebody owns
///  520  i64 active    one bit per shared gate that producers must respect
///  640  i64[64] marks start of the first entry at or after each 64th of the ring
/// 2048  16 shared gates, 128 bytes each
/// </code>
/// </remarks>
internal readonly unsafe struct ControlBlock(byte* origin)
{
    public const int Size = 4096;

    /// <summary>What of it a ring needs that only one process has: all but the shared gates.</summary>
    public const int PrivateSize = (5 * Line) + (MarkCount * sizeof(long));
    public const int Line = 128;
    public const int MarkCount = 64;
    public const int SharedGateCount = 16;
    private const long Signature = 0x4c51_5249_4e47_0100; // "LQRING", version 1, room for log2(capacity)

    public long* Format => (long*)origin;
    public long* Shape => (long*)(origin + 8);
    public long* Claimed => (long*)(origin + Line);
    public long* Published => (long*)(origin + (2 * Line));
    public long* Tail => (long*)(origin + (3 * Line));
    public long* ReservedGates => (long*)(origin + (4 * Line));
    public long* ActiveGates => (long*)(origin + (4 * Line) + 8);
    public long* Marks => (long*)(origin + (5 * Line));

    public long* SharedGate(int slot) => (long*)(origin + 2048 + (slot * Line));

    /// <summary>Writes the format on first use, else checks it against this capacity.</summary>
    /// <exception cref="InvalidDataException">
    /// The memory holds something else, or a ring of another capacity.
    /// </exception>
    public void Adopt(int capacity)
    {
        long expected = Signature | (long)System.Numerics.BitOperations.Log2((uint)capacity);
        long found = Interlocked.CompareExchange(ref *Format, expected, 0);
        if (found != 0 && found != expected)
        {
            throw new InvalidDataException(
                $"The memory is not a ring of {capacity} bytes (format {found:x16}, expected {expected:x16})."
            );
        }
    }

    /// <summary>Writes the shape on first use, else checks it.</summary>
    /// <exception cref="InvalidOperationException">
    /// Another ring over this memory was made with other arguments.
    /// </exception>
    public void AdoptShape(RingProducers producers, int maxEntryLength)
    {
        long expected = ((long)producers << 32) | (uint)maxEntryLength;
        long found = Interlocked.CompareExchange(ref *Shape, expected, 0);
        if (found != 0 && found != expected)
        {
            throw new InvalidOperationException(
                $"The memory already carries a ring with producers {(RingProducers)(found >> 32)} and entries up to "
                    + $"{(int)found} bytes."
            );
        }
    }
}
