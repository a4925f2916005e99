using System.Buffers.Binary;
using System.Diagnostics.CodeAnalysis;
using LightQ.Protocol.Checksums;

namespace LightQ.Broker.Replication;

/// <summary>An entry that is no data: a claim, a snapshot, or positions of groups. It takes no offsets.</summary>
/// <remarks>
/// Little-endian: u32 CRC-32C of what follows, u8 version, u8 kind, u16 part, u32 epoch, u32 parts left, i64 end
/// offset, i64 append time, u64 confirmed snapshot, and the body.
/// </remarks>
/// <param name="Kind">What it is.</param>
/// <param name="Epoch">The epoch of the owner that wrote it; of a claim the one that begins with it.</param>
/// <param name="EndOffset">One behind the last offset in front of it.</param>
/// <param name="AppendTime">When the last batch in front of it was appended, in unix microseconds.</param>
/// <param name="ConfirmedSnapshot">
/// The sequence of the last snapshot that counts in front of it: where a new owner may begin to read (rule R4). 0 for
/// none.
/// </param>
/// <param name="Body">
/// Of a claim who claims (<see cref="Claimant"/>), of a snapshot the partition's state or a part of it, of positions
/// those that have changed.
/// </param>
internal readonly record struct ControlEntry(
    EntryKind Kind,
    uint Epoch,
    long EndOffset,
    long AppendTime,
    ulong ConfirmedSnapshot,
    ReadOnlyMemory<byte> Body
)
{
    /// <summary>
    /// The snapshot that the first claim of a stream names which a repair writes anew: nothing counts of it until a
    /// later claim names a real one.
    /// </summary>
    public const ulong Unfinished = ulong.MaxValue;

    /// <summary>Bytes in front of the body.</summary>
    public const int HeaderSize = 40;
    private const byte Version = 1;

    /// <summary>Of a snapshot: which of its parts this is, from 0.</summary>
    public ushort Part { get; init; }

    /// <summary>Of a snapshot: how many parts follow; they have the next sequences.</summary>
    public uint PartsLeft { get; init; }

    /// <summary>The bytes that are stored.</summary>
    public byte[] Encode()
    {
        byte[] bytes = new byte[HeaderSize + Body.Length];
        bytes[4] = Version;
        bytes[5] = (byte)Kind;
        BinaryPrimitives.WriteUInt16LittleEndian(bytes.AsSpan(6), Part);
        BinaryPrimitives.WriteUInt32LittleEndian(bytes.AsSpan(8), Epoch);
        BinaryPrimitives.WriteUInt32LittleEndian(bytes.AsSpan(12), PartsLeft);
        BinaryPrimitives.WriteInt64LittleEndian(bytes.AsSpan(16), EndOffset);
        BinaryPrimitives.WriteInt64LittleEndian(bytes.AsSpan(24), AppendTime);
        BinaryPrimitives.WriteUInt64LittleEndian(bytes.AsSpan(32), ConfirmedSnapshot);
        Body.CopyTo(bytes.AsMemory(HeaderSize));
        BinaryPrimitives.WriteUInt32LittleEndian(bytes, Crc32C.Compute(bytes.AsSpan(4)));
        return bytes;
    }

    /// <summary>Reads what <see cref="Encode"/> made.</summary>
    /// <returns>False when the bytes are not such an entry of that kind, or are damaged.</returns>
    public static bool TryDecode(in StreamEntry stored, [NotNullWhen(true)] out ControlEntry? entry)
    {
        entry = null;
        ReadOnlySpan<byte> bytes = stored.Payload.Span;
        if (
            bytes.Length < HeaderSize
            || bytes[4] != Version
            || bytes[5] != (byte)stored.Kind
            || BinaryPrimitives.ReadUInt32LittleEndian(bytes) != Crc32C.Compute(bytes[4..])
        )
        {
            return false;
        }

        entry = new ControlEntry(
            stored.Kind,
            BinaryPrimitives.ReadUInt32LittleEndian(bytes[8..]),
            BinaryPrimitives.ReadInt64LittleEndian(bytes[16..]),
            BinaryPrimitives.ReadInt64LittleEndian(bytes[24..]),
            BinaryPrimitives.ReadUInt64LittleEndian(bytes[32..]),
            stored.Payload[HeaderSize..]
        )
        {
            Part = BinaryPrimitives.ReadUInt16LittleEndian(bytes[6..]),
            PartsLeft = BinaryPrimitives.ReadUInt32LittleEndian(bytes[12..]),
        };
        return true;
    }
}
