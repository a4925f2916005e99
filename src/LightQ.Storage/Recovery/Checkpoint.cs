using System.Buffers.Binary;
using LightQ.Protocol.Checksums;
using LightQ.Storage.Segments;

namespace LightQ.Storage.Recovery;

/// <summary>What was certain about a log at one moment.</summary>
/// <remarks>
/// One slot of 4 KiB, of which 112 bytes are used. Little-endian.
/// <code>
///  0 u64 magic           "LQCHKPNT"
///  8 u32 version
/// 12 u32 crc             CRC-32C of bytes 0-11 and 16-95
/// 16 u64 generation      the higher of two valid slots counts
/// 24 u64 incarnation
/// 32 i64 startOffset     the log's start
/// 40 i64 durableOffset   everything below had reached the disk ...
/// 48 i64 durablePosition ... and ends at this log position ...
/// 56 i64 ordinal         ... in this segment (0: there is none yet) ...
/// 64 i64 appendTime      ... with a batch appended then ...
/// 72 u32 chainCrc        ... and this checksum
/// 76 u32 epoch
/// 80 u32 flags           bit 0: nothing follows the durable end; the log was closed, or is at rest
///                        bit 1: the file of the first segment had been made
/// 84 u32 keyCrc          CRC-32C of the key
/// 88 8   zero
/// 96 16  key             of the log, see <see cref="LogKey"/>
/// </code>
/// Version 1 ends at byte 84 and has no key. The first checksum is in its place and of the same bytes in every version,
/// so that each program can tell a later one.
/// </remarks>
internal readonly record struct Checkpoint(
    ulong Generation,
    ulong Incarnation,
    long StartOffset,
    LogEnd Durable,
    uint Epoch,
    bool Clean,
    LogKey Key,
    bool IsBegun = false
)
{
    public const int SlotSize = 4096;

    /// <summary>Bytes that the first checksum is of.</summary>
    public const int Size = 96;

    private const ulong Magic = 0x544E_504B_4843_514C;
    private const uint Version = 2;
    private const uint KeylessVersion = 1;
    private const int KeyCrcAt = 84;
    private const int KeyAt = 96;
    private const uint CleanFlag = 1;
    private const uint BegunFlag = 2;

    /// <summary>The same, without a word on where the log ends.</summary>
    public Checkpoint AsUnclean() => this with { Clean = false };

    public void Write(Span<byte> slot)
    {
        Span<byte> bytes = slot[..Size],
            key = slot.Slice(KeyAt, LogKey.Size);
        bytes.Clear();
        Key.Write(key);
        BinaryPrimitives.WriteUInt64LittleEndian(bytes, Magic);
        BinaryPrimitives.WriteUInt32LittleEndian(bytes[8..], Version);
        BinaryPrimitives.WriteUInt64LittleEndian(bytes[16..], Generation);
        BinaryPrimitives.WriteUInt64LittleEndian(bytes[24..], Incarnation);
        BinaryPrimitives.WriteInt64LittleEndian(bytes[32..], StartOffset);
        BinaryPrimitives.WriteInt64LittleEndian(bytes[40..], Durable.Offset);
        BinaryPrimitives.WriteInt64LittleEndian(bytes[48..], Durable.Position);
        BinaryPrimitives.WriteInt64LittleEndian(bytes[56..], Durable.Ordinal);
        BinaryPrimitives.WriteInt64LittleEndian(bytes[64..], Durable.AppendTime);
        BinaryPrimitives.WriteUInt32LittleEndian(bytes[72..], Durable.ChainCrc);
        BinaryPrimitives.WriteUInt32LittleEndian(bytes[76..], Epoch);
        BinaryPrimitives.WriteUInt32LittleEndian(bytes[80..], (Clean ? CleanFlag : 0) | (IsBegun ? BegunFlag : 0));
        BinaryPrimitives.WriteUInt32LittleEndian(bytes[KeyCrcAt..], Crc32C.Compute(key));
        BinaryPrimitives.WriteUInt32LittleEndian(bytes[12..], ComputeCrc(bytes));
    }

    public static bool TryRead(ReadOnlySpan<byte> slot, out Checkpoint checkpoint)
    {
        checkpoint = default;
        if (slot.Length < Size || BinaryPrimitives.ReadUInt64LittleEndian(slot) != Magic)
            return false;
        ReadOnlySpan<byte> bytes = slot[..Size];
        if (BinaryPrimitives.ReadUInt32LittleEndian(bytes[12..]) != ComputeCrc(bytes))
            return false;
        uint version = BinaryPrimitives.ReadUInt32LittleEndian(bytes[8..]);
        if (version is not (Version or KeylessVersion))
        {
            throw new JournalFormatException(
                $"The checkpoint has format version {version}; this program knows versions {KeylessVersion} and "
                    + $"{Version}."
            );
        }

        LogKey key = default;
        if (version == Version)
        {
            ReadOnlySpan<byte> keyBytes = slot[KeyAt..];
            if (
                keyBytes.Length < LogKey.Size
                || Crc32C.Compute(keyBytes[..LogKey.Size]) != BinaryPrimitives.ReadUInt32LittleEndian(bytes[KeyCrcAt..])
            )
            {
                return false;
            }

            key = LogKey.Read(keyBytes);
        }
        var durable = new LogEnd(
            BinaryPrimitives.ReadInt64LittleEndian(bytes[48..]),
            BinaryPrimitives.ReadInt64LittleEndian(bytes[40..]),
            BinaryPrimitives.ReadInt64LittleEndian(bytes[64..]),
            BinaryPrimitives.ReadInt64LittleEndian(bytes[56..]),
            BinaryPrimitives.ReadUInt32LittleEndian(bytes[72..])
        );
        uint flags = BinaryPrimitives.ReadUInt32LittleEndian(bytes[80..]);
        checkpoint = new Checkpoint(
            BinaryPrimitives.ReadUInt64LittleEndian(bytes[16..]),
            BinaryPrimitives.ReadUInt64LittleEndian(bytes[24..]),
            BinaryPrimitives.ReadInt64LittleEndian(bytes[32..]),
            durable,
            BinaryPrimitives.ReadUInt32LittleEndian(bytes[76..]),
            (flags & CleanFlag) != 0,
            key,
            (flags & BegunFlag) != 0
        );
        return true;
    }

    private static uint ComputeCrc(ReadOnlySpan<byte> bytes) =>
        Crc32C.Append(Crc32C.Compute(bytes[..12]), bytes[16..Size]);
}
