using System.Buffers.Binary;
using System.Text;

namespace LightQ.Storage.State;

/// <summary>A position as it is logged.</summary>
/// <remarks>
/// <code>
///  0 u32 length of the whole entry
///  4 u8  1 = set, 2 = removed   5 u8 0   6 u16 length of the group's name
///  8 16  topic id   24 i32 partition   28 u32 0   32 i64 offset
/// 40 the group's name in UTF-8, then the state
/// </code>
/// Several entries make a record.
/// </remarks>
internal static class OffsetEntry
{
    public const int FixedSize = 40;

    private const byte SetKind = 1;
    private const byte RemovedKind = 2;

    public static int SizeOf(in OffsetKey key, int stateLength) =>
        FixedSize + Encoding.UTF8.GetByteCount(key.Group) + stateLength;

    /// <summary>Writes an entry; without an offset (-1) it says that the key is gone.</summary>
    public static int Write(Span<byte> destination, in OffsetKey key, long offset, ReadOnlySpan<byte> state)
    {
        Span<byte> head = destination[..FixedSize];
        head.Clear();
        int name = Encoding.UTF8.GetBytes(key.Group, destination[FixedSize..]);
        state.CopyTo(destination[(FixedSize + name)..]);
        int length = FixedSize + name + state.Length;
        BinaryPrimitives.WriteInt32LittleEndian(head, length);
        head[4] = offset < 0 ? RemovedKind : SetKind;
        BinaryPrimitives.WriteUInt16LittleEndian(head[6..], checked((ushort)name));
        key.TopicId.TryWriteBytes(head[8..]);
        BinaryPrimitives.WriteInt32LittleEndian(head[24..], key.Partition);
        BinaryPrimitives.WriteInt64LittleEndian(head[32..], offset);
        return length;
    }

    /// <summary>Reads the first entry of a record and moves behind it.</summary>
    /// <exception cref="JournalFormatException">The record's checksum holds, but it is no run of entries.</exception>
    public static (OffsetKey Key, long Offset, byte[] State) Read(ref ReadOnlySpan<byte> record)
    {
        int length = record.Length >= FixedSize ? BinaryPrimitives.ReadInt32LittleEndian(record) : 0;
        int name = length >= FixedSize ? BinaryPrimitives.ReadUInt16LittleEndian(record[6..]) : 0;
        if (length < FixedSize + name || length > record.Length)
            throw new JournalFormatException("A record of consumer positions contradicts its length.");
        ReadOnlySpan<byte> entry = record[..length];
        record = record[length..];
        var key = new OffsetKey(
            Encoding.UTF8.GetString(entry.Slice(FixedSize, name)),
            new Guid(entry.Slice(8, 16)),
            BinaryPrimitives.ReadInt32LittleEndian(entry[24..])
        );
        long offset = entry[4] == RemovedKind ? -1 : BinaryPrimitives.ReadInt64LittleEndian(entry[32..]);
        if (entry[4] is not (SetKind or RemovedKind) || (offset < 0 && entry[4] == SetKind))
        {
            throw new JournalFormatException(
                $"A record of consumer positions has an entry of kind {entry[4]} with the offset {offset}."
            );
        }

        return (key, offset, entry[(FixedSize + name)..].ToArray());
    }
}
