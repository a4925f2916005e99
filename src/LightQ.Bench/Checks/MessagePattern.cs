using System.Buffers.Binary;

namespace LightQ.Bench.Checks;

/// <summary>
/// The bodies a load consists of: each tells its number and its time, and what the rest of it must be.
/// </summary>
/// <remarks>
/// <code>
///  0          8          16
///  +----------+----------+-----------------------------
///  | sequence | stamp    | one of 16 fillers, by sequence
///  +----------+----------+-----------------------------
/// </code>
/// The fillers differ in every byte, so a body that was cut, shifted or mixed with its neighbour is found by one
/// comparison. Not thread-safe: a body is valid until the same filler's next turn.
/// </remarks>
internal sealed class MessagePattern
{
    public const int SmallestSize = 16;

    private const int StampOffset = 8;
    private const int FillerOffset = 16;
    private const int Fillers = 16;

    private readonly byte[][] _bodies = new byte[Fillers][];

    public MessagePattern(int size)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(size, SmallestSize);
        Size = size;
        for (int i = 0; i < Fillers; i++)
        {
            byte[] body = _bodies[i] = new byte[size];
            for (int at = FillerOffset; at < size; at++)
                body[at] = (byte)((at * 31) + (i * 17) + (at >> 8));
        }
    }

    /// <summary>Bytes of a body.</summary>
    public int Size { get; }

    /// <summary>The body of a message.</summary>
    public ReadOnlySpan<byte> Body(long sequence, long stamp = 0)
    {
        byte[] body = _bodies[(int)sequence & (Fillers - 1)];
        BinaryPrimitives.WriteInt64LittleEndian(body, sequence);
        BinaryPrimitives.WriteInt64LittleEndian(body.AsSpan(StampOffset), stamp);
        return body;
    }

    /// <summary>Whether a body has the number of a run's first message.</summary>
    public static bool IsFirst(ReadOnlySpan<byte> body) =>
        body.Length >= SmallestSize && BinaryPrimitives.ReadInt64LittleEndian(body) == 0;

    /// <summary>Reads a body and compares its filler.</summary>
    /// <returns>Whether it is what was sent.</returns>
    public bool TryRead(ReadOnlySpan<byte> body, out long sequence, out long stamp)
    {
        if (body.Length != Size)
        {
            (sequence, stamp) = (-1, 0);
            return false;
        }
        sequence = BinaryPrimitives.ReadInt64LittleEndian(body);
        stamp = BinaryPrimitives.ReadInt64LittleEndian(body[StampOffset..]);
        return sequence >= 0
            && body[FillerOffset..].SequenceEqual(_bodies[(int)sequence & (Fillers - 1)].AsSpan(FillerOffset));
    }
}
