namespace LightQ.Broker.Replication;

/// <summary>Sizes of a replicated log.</summary>
internal sealed record ReplicatedLogOptions
{
    /// <summary>
    /// Bytes between appending and the engine's answer: a power of two, at least four of the largest batch. Default
    /// 4 MiB.
    /// </summary>
    public int RingBytes { get; init; } = 4 * 1024 * 1024;

    /// <summary>The largest batch.</summary>
    public required int MaxBatchBytes { get; init; }

    /// <summary>The largest entry that the engine stores.</summary>
    public required int MaxEntryBytes { get; init; }

    /// <summary>
    /// Most bytes of one append, unless one batch is longer. Default 1 MiB: larger ones are no faster (three servers on
    /// two cores: 64 KiB 64 MiB/s, 256 KiB 91, 1,000 KiB 109), and all of it is lost and sent again with an owner.
    /// </summary>
    public int MaxRunBytes { get; init; } = 1024 * 1024;

    /// <summary>Whether a claim gives way to a node that claims at the same time and is first; null: to none.</summary>
    public Func<string, bool>? YieldsTo { get; init; }

    /// <summary>
    /// How long a claim goes on that the engine neither takes nor refuses, as by a stream without a leader of its own.
    /// Default 5 s; the others leave it to the node no longer.
    /// </summary>
    public TimeSpan LongestClaim { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>
    /// The file that remembers how far of the stream the journal goes; null for none: then a takeover whose journal
    /// ends before the snapshot reads the stream from its front.
    /// </summary>
    public string? MarkPath { get; init; }

    /// <summary>Called when the stream has something else than that file says.</summary>
    public Action<StreamMark>? WrongMark { get; init; }

    /// <summary>
    /// Most bytes of a part of a snapshot, or of positions: of what an entry holds behind its header.
    /// </summary>
    public int MaxBodyBytes => Math.Min(MaxRunBytes, MaxEntryBytes) - ControlEntry.HeaderSize;

    /// <summary>
    /// Bytes behind which a snapshot is written. Default 64 MiB, which a new owner reads in 0.1 to 0.2 s.
    /// </summary>
    public long SnapshotBytes { get; init; } = 64 * 1024 * 1024;

    /// <summary>
    /// Entries behind which a snapshot is written, however small they are; one more for each KiB of the snapshot
    /// before, so that a large state is not written again and again. Default 4,096, which a new owner on a busy machine
    /// reads in 0.3 s. With less than 16 KiB an entry that is before 64 MiB.
    /// </summary>
    public long SnapshotEntries { get; init; } = 4096;
}
