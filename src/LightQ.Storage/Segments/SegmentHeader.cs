using System.Buffers.Binary;
using LightQ.Protocol.Checksums;

namespace LightQ.Storage.Segments;

/// <summary>The first page of a segment file, written together with the segment's first batches.</summary>
/// <remarks>
/// Little-endian. The page is 4 KiB, of which the header uses 96 bytes; see <see cref="SegmentExtent"/> for the rest.
/// <code>
///  0 u64 magic           "LQSEGMNT"
///  8 u32 version
/// 12 u32 crc             CRC-32C of bytes 0-11 and 16-95; the first batch's previousCrc
/// 16 16  topic id
/// 32 u64 incarnation
/// 40 i64 ordinal         as in the file's name: a recycled file's old page is not taken for a new one
/// 48 i64 baseOffset      of the first batch
/// 56 i64 basePosition    log position of the first batch = the end of the segment before
/// 64 i64 previousTime    append time of the batch before; 0 = none
/// 72 u32 epoch           the log's epoch when the segment began
/// 76 u32 previousCrc     header checksum of the batch before, in the segment before; 0 = none
/// 80 16  key             of the log, see <see cref="LogKey"/>; zero in version 1
/// </code>
/// Version 1 is that of segments without a key. They are read as ever, and never appended to: the next batch begins a
/// segment of version 2. A log position counts bytes of batches since the log began: it only grows, and names a byte in
/// a segment as position - basePosition + 4096.
/// </remarks>
internal readonly record struct SegmentHeader(
    Guid TopicId,
    ulong Incarnation,
    long Ordinal,
    long BaseOffset,
    long BasePosition,
    long PreviousTime,
    uint Epoch,
    uint PreviousCrc,
    LogKey Key = default
)
{
    public const int PageSize = 4096;
    public const int Size = 96;

    private const ulong Magic = 0x544E_4D47_4553_514C;
    private const uint Version = 2;
    private const uint KeylessVersion = 1;

    private const int VersionAt = 8;
    private const int CrcAt = 12;
    private const int TopicAt = 16;
    private const int IncarnationAt = 32;
    private const int OrdinalAt = 40;
    private const int BaseOffsetAt = 48;
    private const int BasePositionAt = 56;
    private const int PreviousTimeAt = 64;
    private const int EpochAt = 72;
    private const int PreviousCrcAt = 76;
    private const int KeyAt = 80;

    /// <summary>Writes the page's used part.</summary>
    /// <returns>Its checksum.</returns>
    public uint Write(Span<byte> page)
    {
        Span<byte> header = page[..Size];
        header.Clear();
        BinaryPrimitives.WriteUInt64LittleEndian(header, Magic);
        BinaryPrimitives.WriteUInt32LittleEndian(header[VersionAt..], Key.IsNone ? KeylessVersion : Version);
        TopicId.TryWriteBytes(header[TopicAt..]);
        BinaryPrimitives.WriteUInt64LittleEndian(header[IncarnationAt..], Incarnation);
        BinaryPrimitives.WriteInt64LittleEndian(header[OrdinalAt..], Ordinal);
        BinaryPrimitives.WriteInt64LittleEndian(header[BaseOffsetAt..], BaseOffset);
        BinaryPrimitives.WriteInt64LittleEndian(header[BasePositionAt..], BasePosition);
        BinaryPrimitives.WriteInt64LittleEndian(header[PreviousTimeAt..], PreviousTime);
        BinaryPrimitives.WriteUInt32LittleEndian(header[EpochAt..], Epoch);
        BinaryPrimitives.WriteUInt32LittleEndian(header[PreviousCrcAt..], PreviousCrc);
        Key.Write(header[KeyAt..]);
        uint crc = ComputeCrc(header);
        BinaryPrimitives.WriteUInt32LittleEndian(header[CrcAt..], crc);
        return crc;
    }

    /// <summary>The checksum the page has.</summary>
    public uint Crc()
    {
        Span<byte> page = stackalloc byte[Size];
        return Write(page);
    }

    /// <summary>Reads a page.</summary>
    /// <exception cref="JournalFormatException">It is whole, and of a later version.</exception>
    public static bool TryRead(ReadOnlySpan<byte> page, out SegmentHeader header)
    {
        header = default;
        if (page.Length < Size || BinaryPrimitives.ReadUInt64LittleEndian(page) != Magic)
            return false;
        page = page[..Size];
        if (BinaryPrimitives.ReadUInt32LittleEndian(page[CrcAt..]) != ComputeCrc(page))
            return false;
        uint version = BinaryPrimitives.ReadUInt32LittleEndian(page[VersionAt..]);
        if (version is not (Version or KeylessVersion))
        {
            throw new JournalFormatException(
                $"The segment has format version {version}; this program knows versions {KeylessVersion} and {Version}."
            );
        }

        header = new SegmentHeader(
            new Guid(page.Slice(TopicAt, 16)),
            BinaryPrimitives.ReadUInt64LittleEndian(page[IncarnationAt..]),
            BinaryPrimitives.ReadInt64LittleEndian(page[OrdinalAt..]),
            BinaryPrimitives.ReadInt64LittleEndian(page[BaseOffsetAt..]),
            BinaryPrimitives.ReadInt64LittleEndian(page[BasePositionAt..]),
            BinaryPrimitives.ReadInt64LittleEndian(page[PreviousTimeAt..]),
            BinaryPrimitives.ReadUInt32LittleEndian(page[EpochAt..]),
            BinaryPrimitives.ReadUInt32LittleEndian(page[PreviousCrcAt..]),
            LogKey.Read(page[KeyAt..])
        );
        return version == KeylessVersion == header.Key.IsNone;
    }

    private static uint ComputeCrc(ReadOnlySpan<byte> header) =>
        Crc32C.Append(Crc32C.Compute(header[..CrcAt]), header[TopicAt..Size]);
}
