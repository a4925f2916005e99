using System.Buffers.Binary;
using System.Security.Cryptography;
using LightQ.Protocol.Batches;
using LightQ.Storage.Files;

namespace LightQ.Storage.Segments;

/// <summary>
/// A log's own secret: tells the batches that this log appended from images of batches in what clients published.
/// </summary>
/// <remarks>
/// <para>
/// Every batch carries a code (MAC) of its place in the log under this key, so bytes that a client chose are never
/// taken for a batch when recovery or a repair looks for batches behind damage. Consumers see the codes of batches that
/// were delivered to them; each holds for one place, which that batch has taken.
/// </para>
/// <para>The code is <see cref="SipHash"/> of 64 bits, of five words of 8 bytes, little-endian:
/// ordinal of the segment; position in its file; base offset; length, then durable back; leader epoch, then previous
/// crc. Gap batches choose their base sequence to meet a checksum, so the code does not cover it. It takes 16 ns
/// (SmallBatchBenchmarks).
/// </para>
/// </remarks>
internal readonly record struct LogKey(ulong Low, ulong High)
{
    public const int Size = 16;

    /// <summary>Whether there is none: a log that an older version wrote.</summary>
    public bool IsNone => (Low | High) == 0;

    /// <summary>A new key, from the system's generator.</summary>
    public static LogKey Create()
    {
        Span<byte> bytes = stackalloc byte[Size];
        RandomNumberGenerator.Fill(bytes);
        return Read(bytes);
    }

    public static LogKey Read(ReadOnlySpan<byte> bytes) =>
        new(BinaryPrimitives.ReadUInt64LittleEndian(bytes), BinaryPrimitives.ReadUInt64LittleEndian(bytes[8..]));

    public void Write(Span<byte> bytes)
    {
        BinaryPrimitives.WriteUInt64LittleEndian(bytes, Low);
        BinaryPrimitives.WriteUInt64LittleEndian(bytes[8..], High);
    }

    /// <summary>The stamp with the code of its place; without one where there is no key.</summary>
    /// <param name="ordinal">Of the segment.</param>
    /// <param name="filePosition">Where in its file the batch begins.</param>
    /// <param name="length">Of the batch.</param>
    /// <param name="stamp">What the batch is stamped with.</param>
    public BatchStamp Sign(long ordinal, long filePosition, int length, in BatchStamp stamp) =>
        IsNone
            ? stamp
            : stamp with
            {
                Mac = Compute(
                    ordinal,
                    filePosition,
                    stamp.BaseOffset,
                    length,
                    stamp.DurableBack,
                    stamp.LeaderEpoch,
                    stamp.PreviousCrc
                ),
            };

    /// <summary>Whether this log appended the batch at that place. True of every batch where there is no key.</summary>
    public bool Verify(long ordinal, long filePosition, in BatchView header) =>
        IsNone
        || Mutation.NoMac
        || header.Mac
            == Compute(
                ordinal,
                filePosition,
                header.BaseOffset,
                header.Length,
                header.DurableBack,
                header.LeaderEpoch,
                header.PreviousCrc
            );

    private ulong Compute(
        long ordinal,
        long filePosition,
        long baseOffset,
        int length,
        uint durableBack,
        uint leaderEpoch,
        uint previousCrc
    )
    {
        ulong extent = (uint)length | ((ulong)durableBack << 32),
            history = leaderEpoch | ((ulong)previousCrc << 32);
        return SipHash.Compute64(Low, High, [(ulong)ordinal, (ulong)filePosition, (ulong)baseOffset, extent, history]);
    }
}
