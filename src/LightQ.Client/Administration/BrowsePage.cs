namespace LightQ.Client.Administration;

/// <summary>A page of what a topic holds.</summary>
/// <param name="Messages">The messages, in order within each partition.</param>
/// <param name="Gaps">
/// Offsets that cannot be shown: no longer held (<see cref="GapReason.Retention"/>, <see cref="GapReason.Dropped"/>),
/// or damaged (<see cref="GapReason.Corrupt"/>).
/// </param>
/// <param name="Next">Where the next page begins, also when this is the last: later there may be more.</param>
/// <param name="IsLast">Whether nothing was left behind this page when it was made.</param>
/// <param name="Partitions">The partitions that the page came to.</param>
/// <param name="Scanned">How many messages were read for it; with a key, more than are shown.</param>
public sealed record BrowsePage(
    IReadOnlyList<StoredMessage> Messages,
    IReadOnlyList<MessageGap> Gaps,
    BrowsePosition Next,
    bool IsLast,
    IReadOnlyList<BrowsedPartition> Partitions,
    long Scanned
);
