namespace LightQ.ClusterTests.Model;

/// <summary>One entry of the stream; the first has sequence 1.</summary>
/// <param name="Kind">Claim, data or snapshot, all in one chain.</param>
/// <param name="Epoch">The epoch of the owner that wrote it.</param>
/// <param name="Offset">Of data its own; of claims and snapshots the next one.</param>
/// <param name="Producer">Of data.</param>
/// <param name="Number">Of data: which batch of its producer it is.</param>
/// <param name="Part">Of a snapshot: 0, or 1 for the second part.</param>
/// <param name="Names">
/// Of claims and snapshots: the sequence of the last snapshot that was confirmed when they were written, or 0.
/// </param>
/// <param name="Table">Of a snapshot: what it says about the producers.</param>
internal readonly record struct Entry(
    EntryKind Kind,
    byte Epoch,
    byte Offset,
    byte Producer,
    byte Number,
    byte Part,
    byte Names,
    Numbers Table
)
{
    public static Entry Claim(int epoch, int offset, int names) =>
        new(EntryKind.Claim, (byte)epoch, (byte)offset, 0, 0, 0, (byte)names, default);

    public static Entry Data(int epoch, int offset, int producer, int number) =>
        new(EntryKind.Data, (byte)epoch, (byte)offset, (byte)producer, (byte)number, 0, 0, default);

    public static Entry Snapshot(int epoch, int offset, int part, int names, Numbers table) =>
        new(EntryKind.Snapshot, (byte)epoch, (byte)offset, 0, 0, (byte)part, (byte)names, table);

    public override string ToString() =>
        Kind switch
        {
            EntryKind.Claim => $"claim of epoch {Epoch}",
            EntryKind.Data => $"{Numbers.NameOf(Producer, Number)} (offset {Offset}, epoch {Epoch})",
            _ => $"snapshot{(Part == 0 ? "" : ", part 2")} ({Table}, next offset {Offset}, epoch {Epoch})",
        };
}
