namespace LightQ.ClusterTests.Model;

/// <summary>
/// The time of one node from a claim on. A node that crashes, is paused, or gives up is an owner that takes no more
/// steps, for a while or for ever; its next claim is another owner, which knows only what it read.
/// </summary>
/// <param name="Phase">What it believes of itself.</param>
/// <param name="Epoch">The epoch of its claim.</param>
/// <param name="Next">The offset of the next batch.</param>
/// <param name="Taken">The last number of each producer that it has stamped or replayed.</param>
/// <param name="Committed">The last number of each producer that it holds for committed.</param>
/// <param name="Snapshot">The sequence of the last snapshot that it holds for confirmed, or 0.</param>
/// <param name="Last">The sequence that its last append should get.</param>
/// <param name="IsInSnapshot">Has sent the first part of a snapshot and must send the second.</param>
internal readonly record struct Owner(
    OwnerPhase Phase,
    byte Epoch,
    byte Next,
    Numbers Taken,
    Numbers Committed,
    byte Snapshot,
    byte Last,
    bool IsInSnapshot
)
{
    public static readonly Owner Gone = new() { Phase = OwnerPhase.Over };

    /// <summary>The first is A.</summary>
    public static char NameOf(int index) => (char)('A' + index);
}
