using System.Buffers.Binary;
using System.Globalization;
using LightQ.Protocol;
using LightQ.Protocol.Checksums;
using LightQ.Storage.Files;
using LightQ.Storage.Segments;

namespace LightQ.Storage.Recovery;

/// <summary>How far a journal of records had been durable, as the file beside it notes.</summary>
/// <remarks>
/// The journal's own file cannot say that its end is missing: without its last records, or in an older copy, it is as
/// whole as it was then. So the end is noted in another file, and not in the journal's directory, which an operator may
/// put back as a whole. One slot, little-endian:
/// <code>
///  0 u64 magic       "LQRECEND"
///  8 u32 version
/// 12 u32 crc         CRC-32C of bytes 0-11 and 16-55
/// 16 u64 count       the higher of two valid slots counts
/// 24 i64 generation  of the journal's file
/// 32 i64 offset      one behind the last record; goes on from one generation to the next
/// 40 i64 time        of that record, unix microseconds
/// 48 u32 chainCrc    of it
/// 52 u32 0
/// </code>
/// </remarks>
/// <param name="Generation">The ordinal of the journal's file.</param>
/// <param name="Offset">One behind the last record.</param>
/// <param name="Time">When that was appended, in unix microseconds.</param>
/// <param name="ChainCrc">Its checksum, or that of the header page when the file has none.</param>
internal readonly record struct RecordEnd(long Generation, long Offset, long Time, uint ChainCrc)
{
    public const int SlotSize = 4096;

    private const string Suffix = "-end";
    private const int Size = 56;
    private const ulong Magic = 0x444E_4543_4552_514C;
    private const uint Version = 1;

    /// <summary>The end of a log as it is noted.</summary>
    public static RecordEnd Of(in LogEnd end) => new(end.Ordinal, end.Offset, end.AppendTime, end.ChainCrc);

    /// <summary>The file beside a journal's directory.</summary>
    public static string PathOf(string directory) => Path.TrimEndingDirectorySeparator(directory) + Suffix;

    /// <summary>
    /// What is missing of a journal; null when nothing is, as far as the note says. The start, verify and repair all
    /// judge by this.
    /// </summary>
    /// <param name="end">Where the journal ends; null when its file is gone.</param>
    /// <param name="crcThere">
    /// The checksum of what is in front of the noted offset; null when the journal has no such place.
    /// </param>
    public string? FindLoss(LogEnd? end, uint? crcThere)
    {
        if (Mutation.NoRecordEnd || (Offset == 0 && end is null))
            return null;
        string noted = string.Create(
            CultureInfo.InvariantCulture,
            $"it had {Offset} records, the last of {UnixMicroseconds.ToTime(Time):u}"
        );
        if (end is not { } known)
            return $"the file is gone: {noted}";
        string found = string.Create(
            CultureInfo.InvariantCulture,
            $"and has {known.Offset}, the last of {UnixMicroseconds.ToTime(known.AppendTime):u}"
        );
        return known.Offset < Offset ? $"its end is missing: {noted}, {found}"
            : known.Ordinal < Generation ? $"the file is an older one: {noted}, {found}"
            : known.Ordinal == Generation && crcThere != ChainCrc ? $"the file is another one: {noted}, {found}"
            : null;
    }

    /// <summary>
    /// Says that nothing vouches for a journal's end, as the next start makes the note anew; null when it does, or when
    /// there are no records. An earlier version left none.
    /// </summary>
    /// <param name="directory">The journal's directory.</param>
    /// <param name="noted">What is noted of it; null for nothing.</param>
    /// <param name="offset">One behind the last record that was found.</param>
    public static string? FindLack(string directory, RecordEnd? noted, long offset) =>
        noted is not null || offset == 0
            ? null
            : $"the file '{Path.GetFileName(PathOf(directory))}', which was missing or not valid: nothing said where "
                + $"'{Path.GetFileName(Path.TrimEndingDirectorySeparator(directory))}' ends";

    /// <summary>Writes a slot.</summary>
    public void Write(Span<byte> slot, ulong count)
    {
        Span<byte> bytes = slot[..Size];
        bytes.Clear();
        BinaryPrimitives.WriteUInt64LittleEndian(bytes, Magic);
        BinaryPrimitives.WriteUInt32LittleEndian(bytes[8..], Version);
        BinaryPrimitives.WriteUInt64LittleEndian(bytes[16..], count);
        BinaryPrimitives.WriteInt64LittleEndian(bytes[24..], Generation);
        BinaryPrimitives.WriteInt64LittleEndian(bytes[32..], Offset);
        BinaryPrimitives.WriteInt64LittleEndian(bytes[40..], Time);
        BinaryPrimitives.WriteUInt32LittleEndian(bytes[48..], ChainCrc);
        BinaryPrimitives.WriteUInt32LittleEndian(bytes[12..], CrcOf(bytes));
    }

    /// <summary>Reads the newest valid slot of a file; null when there is none.</summary>
    /// <param name="files">Where.</param>
    /// <param name="directory">The journal's directory.</param>
    /// <param name="count">How often it was written.</param>
    /// <exception cref="JournalFormatException">It is whole, and of a later version.</exception>
    public static RecordEnd? Read(IFileSystem files, string directory, out ulong count)
    {
        string path = PathOf(directory);
        count = 0;
        if (!files.Exists(path))
            return null;
        using IStorageFile file = files.Open(path, OpenMode.Read);
        RecordEnd? newest = null;
        Span<byte> bytes = stackalloc byte[Size];
        for (int i = 0; i < 2; i++)
        {
            if (
                file.Read(bytes, (long)i * SlotSize) != Size
                || !TryRead(bytes, path, out RecordEnd found, out ulong at)
            )
            {
                continue;
            }

            if (newest is null || at > count)
                (newest, count) = (found, at);
        }
        return newest;
    }

    private static bool TryRead(ReadOnlySpan<byte> bytes, string path, out RecordEnd end, out ulong count)
    {
        (end, count) = (default, 0);
        if (
            BinaryPrimitives.ReadUInt64LittleEndian(bytes) != Magic
            || BinaryPrimitives.ReadUInt32LittleEndian(bytes[12..]) != CrcOf(bytes)
        )
        {
            return false;
        }

        uint version = BinaryPrimitives.ReadUInt32LittleEndian(bytes[8..]);
        if (version != Version)
        {
            throw new JournalFormatException(
                $"'{path}' has format version {version}; this program knows version {Version}."
            );
        }

        count = BinaryPrimitives.ReadUInt64LittleEndian(bytes[16..]);
        end = new RecordEnd(
            BinaryPrimitives.ReadInt64LittleEndian(bytes[24..]),
            BinaryPrimitives.ReadInt64LittleEndian(bytes[32..]),
            BinaryPrimitives.ReadInt64LittleEndian(bytes[40..]),
            BinaryPrimitives.ReadUInt32LittleEndian(bytes[48..])
        );
        return true;
    }

    private static uint CrcOf(ReadOnlySpan<byte> bytes) => Crc32C.Append(Crc32C.Compute(bytes[..12]), bytes[16..Size]);
}
