using System.Buffers.Binary;
using LightQ.Protocol.Checksums;
using LightQ.Storage.Files;
using LightQ.Storage.Segments;

namespace LightQ.Storage.Recovery;

/// <summary>
/// A snapshot of the state of idempotent producers, opaque here. Bad or absent: more batch headers are walked.
/// </summary>
/// <remarks>
/// <code>
///  0 u64 magic  8 u32 version  12 u32 crc of the rest  16 i64 position  24 i64 offset  32 u32 segment header's crc  36 u32 length
/// 40 the snapshot
/// </code>
/// </remarks>
internal sealed record ProducerSnapshotFile(long Position, long Offset, uint SegmentCrc, byte[] Snapshot)
{
    private const ulong Magic = 0x0044_4F52_5051_514C;
    private const uint Version = 1;
    private const int HeaderSize = 40;
    private const int MaxBytes = 256 * 1024 * 1024;

    public void Write(IFileSystem files, string path) => ReplacedFile.Write(files, path, Encode());

    /// <summary>The file's bytes.</summary>
    public byte[] Encode()
    {
        byte[] bytes = new byte[HeaderSize + Snapshot.Length];
        BinaryPrimitives.WriteUInt64LittleEndian(bytes, Magic);
        BinaryPrimitives.WriteUInt32LittleEndian(bytes.AsSpan(8), Version);
        BinaryPrimitives.WriteInt64LittleEndian(bytes.AsSpan(16), Position);
        BinaryPrimitives.WriteInt64LittleEndian(bytes.AsSpan(24), Offset);
        BinaryPrimitives.WriteUInt32LittleEndian(bytes.AsSpan(32), SegmentCrc);
        BinaryPrimitives.WriteInt32LittleEndian(bytes.AsSpan(36), Snapshot.Length);
        Snapshot.CopyTo(bytes.AsSpan(HeaderSize));
        BinaryPrimitives.WriteUInt32LittleEndian(bytes.AsSpan(12), Crc32C.Compute(bytes.AsSpan(16)));
        return bytes;
    }

    /// <summary>
    /// Reads a snapshot of a segment; null when it is bad, absent, or of another segment with that name.
    /// </summary>
    public static ProducerSnapshotFile? Read(IFileSystem files, string path, Segment segment) =>
        Parse(ReadContent(files, path), segment);

    /// <summary>The file's bytes; null when there is none.</summary>
    public static byte[]? ReadContent(IFileSystem files, string path) => ReplacedFile.Read(files, path, MaxBytes);

    /// <summary>Understands the file's bytes, as <see cref="Read"/> does.</summary>
    public static ProducerSnapshotFile? Parse(byte[]? bytes, Segment segment) =>
        bytes is not null
        && Parse(bytes) is { } found
        && found.SegmentCrc == segment.Crc
        && found.Position >= segment.BasePosition
            ? found
            : null;

    /// <summary>The snapshot that a file's content holds; null when it is damaged.</summary>
    public static ProducerSnapshotFile? Parse(ReadOnlySpan<byte> bytes)
    {
        if (
            bytes.Length < HeaderSize
            || BinaryPrimitives.ReadUInt64LittleEndian(bytes) != Magic
            || BinaryPrimitives.ReadUInt32LittleEndian(bytes[8..]) != Version
            || BinaryPrimitives.ReadUInt32LittleEndian(bytes[12..]) != Crc32C.Compute(bytes[16..])
            || BinaryPrimitives.ReadInt32LittleEndian(bytes[36..]) != bytes.Length - HeaderSize
        )
        {
            return null;
        }
        return new ProducerSnapshotFile(
            BinaryPrimitives.ReadInt64LittleEndian(bytes[16..]),
            BinaryPrimitives.ReadInt64LittleEndian(bytes[24..]),
            BinaryPrimitives.ReadUInt32LittleEndian(bytes[32..]),
            bytes[HeaderSize..].ToArray()
        );
    }
}
