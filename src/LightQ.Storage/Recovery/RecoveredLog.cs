using LightQ.Storage.Segments;

namespace LightQ.Storage.Recovery;

/// <summary>A log as its files say it is.</summary>
/// <param name="Segments">Oldest first.</param>
/// <param name="StartOffset">The first offset that may be read.</param>
/// <param name="End">Where appending goes on.</param>
/// <param name="Epochs">
/// Which epoch began at which offset, oldest first; the last is that of what is appended now.
/// </param>
/// <param name="IsEpochKept">Whether the disk knows that last one; it had no room for it otherwise.</param>
/// <param name="Checkpoints">Where its next checkpoint goes.</param>
/// <param name="Key">What batches are signed with from now on.</param>
/// <param name="Damage">Batches that were found damaged, of those that had to be looked at.</param>
/// <param name="Rebuilt">Files beside the segments that were not as they had been left, and are made anew.</param>
internal sealed record RecoveredLog(
    IReadOnlyList<Segment> Segments,
    long StartOffset,
    LogEnd End,
    IReadOnlyList<(uint Epoch, long FirstOffset)> Epochs,
    bool IsEpochKept,
    CheckpointFile Checkpoints,
    LogKey Key,
    IReadOnlyList<JournalDamage> Damage,
    IReadOnlyList<string> Rebuilt
);
