using System.Buffers.Binary;
using LightQ.Protocol.Checksums;
using LightQ.Storage.Files;

namespace LightQ.Storage.Recovery;

/// <summary>The file <c>epochs</c>: which epoch began at which offset.</summary>
/// <remarks>
/// <code>
///  0 u64 magic  8 u32 version  12 u32 crc of bytes 0-11 and all from 16 on  16 u32 count  20 u32 0
/// 24 entries: { u32 epoch, u32 0, i64 firstOffset }
/// </code>
/// Every later version keeps magic, version and this checksum, which tells it from a damaged file. In version 1 the
/// checksum is of what is behind it alone.
/// </remarks>
internal static class EpochFile
{
    public const string Name = "epochs";

    private const ulong Magic = 0x0053_4850_4551_514C;
    private const uint Version = 2;
    private const uint VersionWithoutHeaderCrc = 1;
    private const int HeaderSize = 24;
    private const int EntrySize = 16;
    private const int MaxBytes = 16 * 1024 * 1024;

    /// <summary>The epochs, oldest first; empty when there is no such file; null when it is damaged.</summary>
    /// <exception cref="JournalFormatException">It is of another version.</exception>
    public static List<(uint Epoch, long FirstOffset)>? Read(IFileSystem files, string directory)
    {
        string path = Path.Combine(directory, Name);
        if (!files.Exists(path))
            return [];
        return ReplacedFile.Read(files, path, MaxBytes) is { } bytes ? Parse(bytes, path) : null;
    }

    /// <summary>The epochs that a file's content holds; null when it is damaged.</summary>
    /// <exception cref="JournalFormatException">It is of another version.</exception>
    public static List<(uint Epoch, long FirstOffset)>? Parse(ReadOnlySpan<byte> bytes, string path)
    {
        if (bytes.Length < HeaderSize || BinaryPrimitives.ReadUInt64LittleEndian(bytes) != Magic)
            return null;
        uint version = BinaryPrimitives.ReadUInt32LittleEndian(bytes[8..]),
            crc = BinaryPrimitives.ReadUInt32LittleEndian(bytes[12..]);
        if (crc != (version == VersionWithoutHeaderCrc ? Crc32C.Compute(bytes[16..]) : ComputeCrc(bytes)))
            return null;
        if (version is not (VersionWithoutHeaderCrc or Version))
        {
            throw new JournalFormatException(
                $"'{path}' has format version {version}; this program knows version {Version}."
            );
        }

        if (BinaryPrimitives.ReadUInt32LittleEndian(bytes[16..]) * (long)EntrySize != bytes.Length - HeaderSize)
            return null;
        var epochs = new List<(uint, long)>();
        for (int at = HeaderSize; at < bytes.Length; at += EntrySize)
        {
            epochs.Add(
                (
                    BinaryPrimitives.ReadUInt32LittleEndian(bytes[at..]),
                    BinaryPrimitives.ReadInt64LittleEndian(bytes[(at + 8)..])
                )
            );
        }

        return epochs;
    }

    public static void Write(
        IFileSystem files,
        string directory,
        IReadOnlyList<(uint Epoch, long FirstOffset)> epochs
    ) => ReplacedFile.Write(files, Path.Combine(directory, Name), Encode(epochs));

    /// <summary>The file's content.</summary>
    public static byte[] Encode(IReadOnlyList<(uint Epoch, long FirstOffset)> epochs)
    {
        byte[] bytes = new byte[HeaderSize + (epochs.Count * EntrySize)];
        BinaryPrimitives.WriteUInt64LittleEndian(bytes, Magic);
        BinaryPrimitives.WriteUInt32LittleEndian(bytes.AsSpan(8), Version);
        BinaryPrimitives.WriteInt32LittleEndian(bytes.AsSpan(16), epochs.Count);
        int at = HeaderSize;
        foreach ((uint epoch, long firstOffset) in epochs)
        {
            BinaryPrimitives.WriteUInt32LittleEndian(bytes.AsSpan(at), epoch);
            BinaryPrimitives.WriteInt64LittleEndian(bytes.AsSpan(at + 8), firstOffset);
            at += EntrySize;
        }
        BinaryPrimitives.WriteUInt32LittleEndian(bytes.AsSpan(12), ComputeCrc(bytes));
        return bytes;
    }

    private static uint ComputeCrc(ReadOnlySpan<byte> bytes) => Crc32C.Append(Crc32C.Compute(bytes[..12]), bytes[16..]);
}
