namespace LightQ.Broker.Replication;

/// <summary>Makes a node the owner of a partition: reads its stream to the end, and claims it there.</summary>
/// <remarks>
/// The claim is an append like any other, behind the end that was read (rule R1). When something else was stored there
/// meanwhile, that is read and the claim made again. An owner that is alive loses its partition by it: its next append
/// is refused.
/// </remarks>
internal sealed class Takeover(IReplicatedStream stream, IReplayTarget target, TimeProvider time)
{
    private static readonly TimeSpan ClaimPause = TimeSpan.FromMilliseconds(5),
        LongestClaimPause = TimeSpan.FromMilliseconds(100);

    /// <summary>
    /// Whether to leave the partition to a node that has claimed it in the meantime: of two that claim at once, the
    /// first one is to keep it. Null: to none.
    /// </summary>
    public Func<string, bool>? Yields { get; init; }

    /// <summary>What was read.</summary>
    public LogReplay Replay { get; } = new(target);

    /// <summary>Reads what counts and claims the partition in a new epoch.</summary>
    /// <param name="node">The node's name.</param>
    /// <param name="heldTo">
    /// One behind the last offset that the node has itself. When the snapshot begins behind it, the stream is read from
    /// its front.
    /// </param>
    /// <param name="cancellationToken">Stops it, between two attempts too.</param>
    /// <exception cref="ReplicationException">The engine cannot be reached, or the stream is damaged.</exception>
    /// <exception cref="OperationCanceledException">Stopped, or another node has it (<see cref="Yields"/>).</exception>
    public async Task<Ownership> ClaimAsync(string node, long heldTo, CancellationToken cancellationToken)
    {
        Task<StreamBounds> asked = stream.GetBoundsAsync(cancellationToken).AsTask();
        Task beginning = BeginAsync(heldTo, cancellationToken);
        await Task.WhenAll(asked, beginning).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        StreamBounds bounds = await asked.ConfigureAwait(false);
        // The first entry is a claim, and claims are never removed.
        if (bounds.First > 1)
        {
            throw new ReplicationException(
                $"{stream.Name} begins at entry {bounds.First} and not at 1: its replicated log has lost what was in "
                    + "front."
            );
        }
        await beginning.ConfigureAwait(false);
        TimeSpan pause = ClaimPause;
        var own = new Claimant(node, Guid.NewGuid());
        await Replay.ReadAsync(stream, bounds.Last, cancellationToken).ConfigureAwait(false);
        // Only what the stream had confirmed is held. Nothing may be appended at offsets that were given out before.
        if (Replay.NextOffset < heldTo)
        {
            throw new ReplicationException(
                $"{stream.Name} ends at offset {Replay.NextOffset}, and this node holds what had been confirmed up to "
                    + $"{heldTo}: the stream has lost it, or is another one."
            );
        }
        while (true)
        {
            target.OnEnd(Replay.NextOffset);
            var claim = new ControlEntry(
                EntryKind.Claim,
                Replay.Epoch + 1,
                Replay.NextOffset,
                Replay.AppendTime,
                Replay.ConfirmedSnapshot,
                own.Encode()
            );
            EntryAppend answer = await stream
                .AppendAsync(EntryKind.Claim, claim.Encode(), Replay.Sequence, cancellationToken)
                .ConfigureAwait(false);
            if (answer.Outcome == AppendOutcome.Stored && answer.Sequence == Replay.Sequence + 1)
            {
                return new Ownership(
                    claim.Epoch,
                    answer.Sequence,
                    claim.EndOffset,
                    claim.AppendTime,
                    claim.ConfirmedSnapshot
                );
            }

            // Refused: there is more to read, at once, for a live owner appends all the time. Unknown: the claim may
            // come yet, and is read then like another node's.
            if (answer.Outcome == AppendOutcome.Unknown)
            {
                await Task.Delay(pause, time, cancellationToken).ConfigureAwait(false);
                pause = pause < LongestClaimPause ? 2 * pause : LongestClaimPause;
            }
            await Replay.FollowAsync(stream, cancellationToken).ConfigureAwait(false);
            if (
                Replay.Epoch >= claim.Epoch
                && Replay.Claimant is { } other
                && other.Token != own.Token
                && Yields?.Invoke(other.Node) == true
            )
            {
                throw new OperationCanceledException($"{stream.Name}: {other.Node} has claimed it.");
            }
        }
    }

    private async Task BeginAsync(long heldTo, CancellationToken cancellationToken)
    {
        SavedState? saved = await SavedState.FindAsync(stream, cancellationToken).ConfigureAwait(false);
        if (saved is not null && saved.EndOffset <= heldTo)
            Replay.StartBehind(saved);
        else
            Replay.StartAtFront(saved);
    }
}
