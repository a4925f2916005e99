using System.Buffers.Binary;
using LightQ.Protocol.Checksums;
using LightQ.Storage.Files;

namespace LightQ.Storage.Segments;

/// <summary>
/// What a segment's first page says, beside its header, of how much there must be: without it a file that is cut, or
/// one that is gone, looks like a log that ends earlier.
/// </summary>
/// <remarks>
/// Little-endian. Both parts are bound to the header by its checksum, and zero where a build did not write them.
/// <code>
///   96 i64 fileBytes     length that the file was made with
///  104 u32 crc           CRC-32C of bytes 96-103 and of the header's checksum
/// 2048 i64 nextBytes     length of the next segment's file
/// 2056 u32 crc           CRC-32C of bytes 2048-2055 and of the header's checksum
/// </code>
/// The second part is in a sector of its own. It is written when the file of the next segment is there, under its name,
/// and synced before that file holds anything. A start that removes that file, because nothing was written to it, takes
/// this back first.
/// </remarks>
/// <param name="FileBytes">The length that the file was made with; 0 when that is not known.</param>
/// <param name="NextBytes">The length of the next segment's file; 0 when none is known to have been made.</param>
internal readonly record struct SegmentExtent(long FileBytes, long NextBytes)
{
    /// <summary>Where the first part is.</summary>
    public const int LengthAt = SegmentHeader.Size;

    /// <summary>Where the second part is.</summary>
    public const int NextAt = 2048;

    /// <summary>No build made a file with fewer bytes: its page and room for batches.</summary>
    public const int LeastFileBytes = 2 * SegmentHeader.PageSize;

    /// <summary>Bytes of a part.</summary>
    public const int PartSize = 12;

    /// <summary>What is missing of the file, or behind it; null when nothing is, as far as the page says.</summary>
    /// <param name="fileBytes">The length that the file has.</param>
    /// <param name="nextFileBytes">The length of the next segment's file; null when there is none.</param>
    public string? FindLoss(long fileBytes, long? nextFileBytes) =>
        Mutation.TrustLength ? null
        : FileBytes > fileBytes
            ? $"the file has {fileBytes} bytes and was made with {FileBytes}: what had been synced behind may be gone"
        : NextBytes > 0 && nextFileBytes is null ? "the segment behind it had been made and is gone"
        : NextBytes > nextFileBytes ? $"the segment behind it has {nextFileBytes} bytes and was made with {NextBytes}"
        : null;

    /// <summary>Reads both parts.</summary>
    /// <param name="page">The first page, as far as it is there.</param>
    /// <param name="headerCrc">The header's checksum.</param>
    public static SegmentExtent Read(ReadOnlySpan<byte> page, uint headerCrc) =>
        new(ReadPart(page, LengthAt, headerCrc), ReadPart(page, NextAt, headerCrc));

    /// <summary>Writes what is known into a page that is about to be written as a whole.</summary>
    public void Write(Span<byte> page, uint headerCrc)
    {
        WritePart(page.Slice(LengthAt, PartSize), FileBytes, headerCrc);
        if (NextBytes != 0)
            WritePart(page.Slice(NextAt, PartSize), NextBytes, headerCrc);
    }

    /// <summary>Writes a part.</summary>
    /// <param name="part">Its bytes.</param>
    /// <param name="length">The length that it is to say.</param>
    /// <param name="headerCrc">The header's checksum.</param>
    public static void WritePart(Span<byte> part, long length, uint headerCrc)
    {
        BinaryPrimitives.WriteInt64LittleEndian(part, length);
        BinaryPrimitives.WriteUInt32LittleEndian(part[sizeof(long)..], CrcOf(part[..sizeof(long)], headerCrc));
    }

    /// <summary>Takes both parts out of the first bytes of a file that will be a copy of another length.</summary>
    /// <param name="bytes">Some of the file's bytes.</param>
    /// <param name="position">Where in the file they are.</param>
    public static void Clear(Span<byte> bytes, long position)
    {
        ReadOnlySpan<int> parts = [LengthAt, NextAt];
        foreach (int part in parts)
        {
            long from = Math.Clamp(part - position, 0, bytes.Length),
                to = Math.Clamp(part + PartSize - position, 0, bytes.Length);
            bytes[(int)from..(int)to].Clear();
        }
    }

    private static long ReadPart(ReadOnlySpan<byte> page, int at, uint headerCrc)
    {
        if (page.Length < at + PartSize)
            return 0;
        ReadOnlySpan<byte> part = page.Slice(at, PartSize);
        long length = BinaryPrimitives.ReadInt64LittleEndian(part);
        uint crc = BinaryPrimitives.ReadUInt32LittleEndian(part[sizeof(long)..]);
        return length > 0 && crc == CrcOf(part[..sizeof(long)], headerCrc) ? length : 0;
    }

    private static uint CrcOf(ReadOnlySpan<byte> length, uint headerCrc)
    {
        Span<byte> header = stackalloc byte[sizeof(uint)];
        BinaryPrimitives.WriteUInt32LittleEndian(header, headerCrc);
        return Crc32C.Append(Crc32C.Compute(length), header);
    }
}
