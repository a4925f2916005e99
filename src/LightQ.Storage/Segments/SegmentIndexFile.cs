using System.Buffers.Binary;
using System.Runtime.InteropServices;
using LightQ.Protocol.Checksums;
using LightQ.Storage.Files;

namespace LightQ.Storage.Segments;

/// <summary>
/// An index on disk. Derived: written without a sync, ignored when anything about it is wrong, never evidence about the
/// log.
/// </summary>
/// <remarks>
/// <code>
///  0 u64 magic  8 u32 segment header's crc  12 u32 crc of the entries  16 u32 count  20 u32 0
/// 24 entries: { i64 offset, i64 appendTime, i64 position }
/// </code>
/// The segment header's checksum ties it to one segment, so that the index of a file that was made anew is not used.
/// </remarks>
internal static class SegmentIndexFile
{
    private const ulong Magic = 0x0031_5844_4951_544C;
    private const int HeaderSize = 24;
    private const int EntrySize = 24;
    private const int MaxBytes = 64 * 1024 * 1024;

    public static void Write(IFileSystem files, string path, SegmentIndex index, uint segmentCrc)
    {
        ReadOnlySpan<byte> entries = MemoryMarshal.AsBytes(index.Entries);
        byte[] bytes = new byte[HeaderSize + entries.Length];
        BinaryPrimitives.WriteUInt64LittleEndian(bytes, Magic);
        BinaryPrimitives.WriteUInt32LittleEndian(bytes.AsSpan(8), segmentCrc);
        BinaryPrimitives.WriteUInt32LittleEndian(bytes.AsSpan(12), Crc32C.Compute(entries));
        BinaryPrimitives.WriteInt32LittleEndian(bytes.AsSpan(16), entries.Length / EntrySize);
        entries.CopyTo(bytes.AsSpan(HeaderSize));
        using IStorageFile file = files.Open(path, OpenMode.Create);
        file.Write(bytes, 0);
    }

    /// <summary>Reads what is usable into an index.</summary>
    /// <returns>False when there is no usable file.</returns>
    public static bool TryRead(
        IFileSystem files,
        string path,
        SegmentIndex into,
        uint segmentCrc,
        long basePosition,
        long endPosition
    )
    {
        if (!files.Exists(path))
            return false;
        byte[] bytes;
        using (IStorageFile file = files.Open(path, OpenMode.Read))
        {
            long length = file.Length;
            if (length is < HeaderSize or > MaxBytes)
                return false;
            bytes = new byte[length];
            if (file.Read(bytes, 0) != bytes.Length)
                return false;
        }
        return TryParse(bytes, into, segmentCrc, basePosition, endPosition);
    }

    /// <summary>Reads what is usable of a file's content into an index.</summary>
    /// <returns>False when nothing is.</returns>
    public static bool TryParse(
        ReadOnlySpan<byte> bytes,
        SegmentIndex into,
        uint segmentCrc,
        long basePosition,
        long endPosition
    )
    {
        if (bytes.Length < HeaderSize)
            return false;
        ReadOnlySpan<byte> body = bytes[HeaderSize..];
        if (
            BinaryPrimitives.ReadUInt64LittleEndian(bytes) != Magic
            || BinaryPrimitives.ReadUInt32LittleEndian(bytes[8..]) != segmentCrc
            || BinaryPrimitives.ReadInt32LittleEndian(bytes[16..]) * (long)EntrySize != body.Length
            || BinaryPrimitives.ReadUInt32LittleEndian(bytes[12..]) != Crc32C.Compute(body)
        )
        {
            return false;
        }
        foreach (SegmentIndexEntry entry in MemoryMarshal.Cast<byte, SegmentIndexEntry>(body))
        {
            if (entry.Position < basePosition || entry.Position >= endPosition)
                break;
            into.Note(entry.Offset, entry.AppendTime, entry.Position);
        }
        return true;
    }
}
