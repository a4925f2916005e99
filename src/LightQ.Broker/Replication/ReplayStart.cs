namespace LightQ.Broker.Replication;

/// <summary>Where a node begins to read a stream into its journal, and what it demands of what it finds.</summary>
internal static class ReplayStart
{
    /// <summary>
    /// Begins behind the last snapshot that counts (rule R4), if the journal goes as far; else where the journal's mark
    /// is, if the stream has that entry; else at the front.
    /// </summary>
    /// <param name="replay">What reads.</param>
    /// <param name="stream">The stream.</param>
    /// <param name="heldTo">One behind the last offset of the node's journal.</param>
    /// <param name="mark">How far of the stream that journal goes, if that is known.</param>
    /// <param name="known">A snapshot of the stream that was read before, if any.</param>
    /// <param name="cancellationToken">Stops it.</param>
    /// <returns>Whether the mark is wrong: the stream has something else there.</returns>
    /// <exception cref="ReplicationException">The engine cannot be reached, or the snapshot is damaged.</exception>
    public static async ValueTask<bool> BeginAsync(
        LogReplay replay,
        IReplicatedStream stream,
        long heldTo,
        StreamMark? mark,
        SavedState? known,
        CancellationToken cancellationToken
    )
    {
        SavedState? saved = await SavedState.FindAsync(stream, known, cancellationToken).ConfigureAwait(false);
        if (saved is not null && saved.EndOffset <= heldTo)
        {
            replay.StartBehind(saved);
            return false;
        }
        // A journal that ends in front of its mark lacks what the mark stands for. Without a snapshot the state is made
        // of all entries.
        if (saved is null || mark is not { } held || held.NextOffset > heldTo)
        {
            replay.StartAtFront(saved);
            return false;
        }
        StreamEntry? stored = await stream.GetAsync(held.Sequence, cancellationToken).ConfigureAwait(false);
        // The snapshot stands at an offset behind the mark's.
        if (stored is { } entry && held.IsOf(entry) && held.Sequence < saved.Sequence)
        {
            replay.StartAt(held, saved);
            return false;
        }
        replay.StartAtFront(saved);
        return stored is not null; // Else retention has removed it.
    }

    /// <summary>Demands that the stream has its first entry.</summary>
    /// <exception cref="ReplicationException">It has not.</exception>
    public static void DemandFront(IReplicatedStream stream, in StreamBounds bounds)
    {
        // The first entry is a claim, and claims are never removed.
        if (bounds.First > 1)
        {
            throw new ReplicationException(
                $"{stream.Name} begins at entry {bounds.First} and not at 1: its replicated log has lost what was in "
                    + "front."
            )
            {
                IsLoss = true,
            };
        }
    }

    /// <summary>Demands that the stream, which was read to its end, has everything that the node holds.</summary>
    /// <exception cref="ReplicationException">It has not.</exception>
    public static void DemandEnd(IReplicatedStream stream, LogReplay replay, long heldTo)
    {
        // Only what the stream had confirmed is held. Nothing may be appended at offsets that were given out before.
        if (replay.NextOffset < heldTo)
        {
            throw new ReplicationException(
                $"{stream.Name} ends at offset {replay.NextOffset}, and this node holds what had been confirmed up to "
                    + $"{heldTo}: the stream has lost it, or is another one."
            )
            {
                IsLoss = true,
            };
        }
    }

    /// <summary>Demands that the stream knows the newest owner that was heard of, and what it had confirmed.</summary>
    /// <exception cref="ReplicationException">It does not.</exception>
    public static void DemandOwner(IReplicatedStream stream, LogReplay replay, in HeardOwner heard)
    {
        // Whoever says that it leads has stored its claim. What a later owner has found may end in front of it: a
        // repair writes what there is.
        string? loss =
            replay.Epoch < heard.Epoch
                ? $"knows owners up to epoch {replay.Epoch}, and a node has led the partition in epoch {heard.Epoch}"
            : replay.Epoch == heard.Epoch && replay.NextOffset < heard.End
                ? $"ends at offset {replay.NextOffset}, and its owner had it up to {heard.End}"
            : null;
        if (loss is null)
            return;
        throw new ReplicationException($"{stream.Name} {loss}: it is an older stream, or another.") { IsLoss = true };
    }
}
