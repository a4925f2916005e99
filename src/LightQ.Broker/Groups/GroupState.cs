using System.Buffers.Binary;
using LightQ.Broker.Users;

namespace LightQ.Broker.Groups;

/// <summary>
/// What is kept of a group: its position, the epoch it was reached in, and what it has been given and not settled.
/// </summary>
/// <param name="Committed">The lowest offset that is not settled; -1 for a group that never began.</param>
/// <param name="Epoch">The log's epoch then; null when that is not known.</param>
/// <param name="Next">
/// The first offset that no member has been given; with automatic settlement the same as <paramref name="Committed"/>.
/// </param>
/// <param name="Unsettled">What lies between and is not settled, in the order of its offsets; null for nothing.</param>
/// <param name="IsPaused">Whether the group gets nothing until it is resumed.</param>
/// <param name="SettleMode">Who settles.</param>
/// <param name="Maker">
/// The <see cref="Users.UserNumber"/> of whoever made the group; that of nobody for one of an earlier version.
/// </param>
/// <param name="Used">
/// When it last had a member or settled something, unix microseconds; 0 where an earlier version did not say.
/// </param>
/// <remarks>
/// Behind the position, as the state of its entry:
/// <code>
///  0     4         5       6   8      16      20  24     32
///  +-----+---------+-------+---+------+-------+---+------+-------
///  |epoch| version | flags | 0 | next | maker | 0 | used | ranges
///  +-----+---------+-------+---+------+-------+---+------+-------
///  range: i64 first, u32 count, u16 deliveries, u8 losses, u8 waits, i64 not before
/// </code>
/// Not before is in unix microseconds. Flag 1: paused; flag 2: its members settle. In version 1, which earlier brokers
/// wrote, the ranges begin at 16. A state of four bytes is an epoch alone.
/// </remarks>
internal readonly record struct GroupState(
    long Committed,
    uint? Epoch,
    long Next,
    IReadOnlyList<RedeliveryRange>? Unsettled = null,
    bool IsPaused = false,
    SettleMode SettleMode = SettleMode.Automatic,
    uint Maker = UserNumber.None,
    long Used = 0
)
{
    private const byte Version = 2,
        VersionWithoutMaker = 1,
        PausedFlag = 1,
        ExplicitFlag = 2;
    private const int HeadSize = 32,
        HeadSizeWithoutMaker = 16,
        EntrySize = 24;

    /// <summary>A group that never began.</summary>
    public static readonly GroupState None = new(-1, null, -1);

    /// <summary>Bytes behind the position.</summary>
    public byte[] Encode()
    {
        IReadOnlyList<RedeliveryRange> unsettled = Unsettled ?? [];
        byte[] state = new byte[HeadSize + (unsettled.Count * EntrySize)];
        BinaryPrimitives.WriteUInt32LittleEndian(state, Epoch ?? 0);
        state[4] = Version;
        state[5] = (byte)((IsPaused ? PausedFlag : 0) | (SettleMode == SettleMode.Explicit ? ExplicitFlag : 0));
        BinaryPrimitives.WriteInt64LittleEndian(state.AsSpan(8), Next);
        BinaryPrimitives.WriteUInt32LittleEndian(state.AsSpan(16), Maker);
        BinaryPrimitives.WriteInt64LittleEndian(state.AsSpan(24), Used);
        for (int i = 0; i < unsettled.Count; i++)
        {
            RedeliveryRange range = unsettled[i];
            Span<byte> entry = state.AsSpan(HeadSize + (i * EntrySize), EntrySize);
            BinaryPrimitives.WriteInt64LittleEndian(entry, range.First);
            BinaryPrimitives.WriteInt32LittleEndian(entry[8..], range.Count);
            BinaryPrimitives.WriteUInt16LittleEndian(entry[12..], range.Deliveries);
            (entry[14], entry[15]) = (range.Losses, range.Waits);
            BinaryPrimitives.WriteInt64LittleEndian(entry[16..], range.NotBefore);
        }
        return state;
    }

    /// <summary>
    /// Reads what was kept. A state that contradicts itself, or is of a later version, counts as the position alone:
    /// more is delivered again then.
    /// </summary>
    public static GroupState Decode(long committed, ReadOnlySpan<byte> state)
    {
        uint? epoch = state.Length >= sizeof(uint) ? BinaryPrimitives.ReadUInt32LittleEndian(state) : null;
        var position = new GroupState(committed, epoch, committed);
        int head = state.Length <= sizeof(uint) ? 0 : HeadOf(state[4]);
        if (head == 0 || state.Length < head || (state.Length - head) % EntrySize != 0)
            return position;
        position = position with
        {
            Maker = head == HeadSize ? BinaryPrimitives.ReadUInt32LittleEndian(state[16..]) : UserNumber.None,
            Used = head == HeadSize ? BinaryPrimitives.ReadInt64LittleEndian(state[24..]) : 0,
            IsPaused = (state[5] & PausedFlag) != 0,
            SettleMode = (state[5] & ExplicitFlag) != 0 ? SettleMode.Explicit : SettleMode.Automatic,
        };
        long next = BinaryPrimitives.ReadInt64LittleEndian(state[8..]),
            last = committed;
        var unsettled = new List<RedeliveryRange>((state.Length - head) / EntrySize);
        for (ReadOnlySpan<byte> entry = state[head..]; entry.Length > 0; entry = entry[EntrySize..])
        {
            var range = new RedeliveryRange(
                BinaryPrimitives.ReadInt64LittleEndian(entry),
                BinaryPrimitives.ReadInt32LittleEndian(entry[8..]),
                BinaryPrimitives.ReadUInt16LittleEndian(entry[12..]),
                BinaryPrimitives.ReadInt64LittleEndian(entry[16..]),
                entry[14],
                entry[15]
            );
            if (range.First < last || range.Count <= 0 || range.First > next - range.Count)
                return position;
            last = range.End;
            unsettled.Add(range);
        }
        return next < committed ? position : position with { Next = next, Unsettled = unsettled };
    }

    private static int HeadOf(byte version) =>
        version switch
        {
            Version => HeadSize,
            VersionWithoutMaker => HeadSizeWithoutMaker,
            _ => 0,
        };
}
