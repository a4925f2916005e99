using LightQ.Storage.Files;
using LightQ.Storage.Segments;

namespace LightQ.Storage.Recovery;

/// <summary>Where a log ends, and what had reached the disk. The start, verify and repair all judge by this.</summary>
/// <remarks>
/// <para>
/// The headers alone say how far the log goes: each is chained to the one before, and a batch that is whole but for its
/// payload is passed over. Each also says how far the log had been synced when it was appended, so does the checkpoint,
/// and so do headers behind a place where the chain breaks. Below that everything had been durable: a broken chain
/// there is corruption, and a wrong payload is the damage of one batch.
/// </para>
/// <para>
/// Behind it lies what the last commits wrote and nothing proves: there the log ends at the first batch that is not
/// whole.
/// </para>
/// </remarks>
/// <param name="End">Where the log ends; where the chain breaks if it is corrupt.</param>
/// <param name="DurableOffset">Everything below this offset had been synced.</param>
/// <param name="UsedEnd">File position behind the last byte behind the end that is not zero.</param>
/// <param name="Damaged">Batches in front of the end that had been synced and whose payload is wrong.</param>
/// <param name="Loss">What is missing of files, though they were made before they were used; null for nothing.</param>
internal sealed record LogTail(
    LogEnd End,
    long DurableOffset,
    long UsedEnd,
    IReadOnlyList<DamagedBatch> Damaged,
    string? Loss
)
{
    /// <summary>Whether batches that had been synced cannot be found any more.</summary>
    public bool IsCorrupt => DurableOffset > End.Offset || Loss is not null;

    /// <summary>Finds the end of a log in its last segment.</summary>
    /// <param name="window">The segment's file.</param>
    /// <param name="segment">The last segment that has a valid header page.</param>
    /// <param name="start">A place in it that is known.</param>
    /// <param name="checkpoint">The newest checkpoint; null without one.</param>
    /// <param name="knownOffset">
    /// Everything below this offset had been synced, as something beside the log says; 0 when nothing does.
    /// </param>
    /// <param name="nextFileBytes">The length of the next segment's file; null when there is none.</param>
    /// <param name="proofBehind">
    /// What later files prove to have been synced; see <see cref="TailRepair.FindProof"/>.
    /// </param>
    public static LogTail Find(
        FileWindow window,
        Segment segment,
        LogEnd start,
        Checkpoint? checkpoint = null,
        long knownOffset = 0,
        long? nextFileBytes = null,
        long proofBehind = -1
    )
    {
        var damaged = new List<DamagedBatch>();
        LogEnd at = start;
        long proven = Math.Max(Math.Max(checkpoint?.Durable.Offset ?? 0, knownOffset), proofBehind);
        for (
            LogEnd before = at;
            BatchScan.TryPass(window, segment, segment.Limit, ref at, out long proof, out bool isWhole);
            before = at
        )
        {
            proven = Math.Max(proven, proof);
            if (!isWhole)
                damaged.Add(new DamagedBatch(before, at));
        }
        proven = Math.Max(
            proven,
            TailRepair.FindProof(segment.File, segment.Header, segment.FilePosition(at.Position), out long usedEnd)
        );
        // A log that was closed, or at rest, ends where its checkpoint says; what its last file had beyond is nothing.
        bool isAtRest = checkpoint is { Clean: true } rest && rest.Durable == at && at.Position <= segment.Limit;
        string? loss = isAtRest ? null : segment.Extent.FindLoss(segment.FileBytes, nextFileBytes);
        int torn = damaged.FindIndex(batch => batch.Start.Offset >= proven || Mutation.CutAtPayload);
        if (proven > at.Offset || torn < 0)
            return new LogTail(at, proven, usedEnd, damaged, loss);
        LogEnd end = damaged[torn].Start;
        segment.Index?.CutAt(end.Position);
        return new LogTail(end, proven, Math.Max(usedEnd, segment.FilePosition(at.Position)), damaged[..torn], loss);
    }
}
