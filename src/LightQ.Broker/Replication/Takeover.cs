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

    /// <summary>How long to go on with a claim that is neither stored nor refused.</summary>
    public TimeSpan Patience { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>How far of the stream the node's journal goes, if that is known.</summary>
    public StreamMark? Mark { get; init; }

    /// <summary>A snapshot of the stream that was read before, if any.</summary>
    public SavedState? Known { get; init; }

    /// <summary>
    /// The newest owner that was heard of: a stream that does not know it is an older one, or another.
    /// </summary>
    public HeardOwner Heard { get; init; }

    /// <summary>Called when the stream has something else than the mark says; null for nothing.</summary>
    public Action? MarkIsWrong { get; init; }

    /// <summary>What was read.</summary>
    public LogReplay Replay { get; } = new(target);

    /// <summary>Reads what counts and claims the partition in a new epoch.</summary>
    /// <param name="node">The node's name.</param>
    /// <param name="heldTo">
    /// One behind the last offset that the node has itself. When the snapshot begins behind it, the stream is read from
    /// the mark, or from its front.
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
        ReplayStart.DemandFront(stream, bounds);
        await beginning.ConfigureAwait(false);
        TimeSpan pause = ClaimPause;
        long? unanswered = null;
        var own = new Claimant(node, Guid.NewGuid());
        await Replay.ReadAsync(stream, bounds.Last, cancellationToken).ConfigureAwait(false);
        ReplayStart.DemandEnd(stream, Replay, heldTo);
        ReplayStart.DemandOwner(stream, Replay, Heard);
        await target.LearnAsync(cancellationToken).ConfigureAwait(false);
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
            byte[] bytes = claim.Encode();
            EntryAppend answer = await stream
                .AppendAsync(EntryKind.Claim, bytes, Replay.Sequence, cancellationToken)
                .ConfigureAwait(false);
            if (answer.Outcome == AppendOutcome.Stored && answer.Sequence == Replay.Sequence + 1)
            {
                target.OnRead(StreamMark.Of(answer.Sequence, claim, bytes), bytes.Length);
                await target.LearnAsync(cancellationToken).ConfigureAwait(false); // What came since it was read.
                return new Ownership(
                    claim.Epoch,
                    answer.Sequence,
                    claim.EndOffset,
                    claim.AppendTime,
                    claim.ConfirmedSnapshot,
                    Replay.Tail
                );
            }

            if (answer.Outcome == AppendOutcome.Full)
                throw new ReplicationException($"The replicated log takes nothing: {answer.Reason}.") { IsFull = true };

            // Refused: there is more to read, at once, for a live owner appends all the time. Unknown: the claim may
            // come yet, and is read then like another node's.
            if (answer.Outcome != AppendOutcome.Unknown)
            {
                unanswered = null;
            }
            else
            {
                unanswered ??= time.GetTimestamp();
                if (time.GetElapsedTime(unanswered.Value) >= Patience)
                    throw new ReplicationException($"{stream.Name}: the claim is not answered: {answer.Reason}");
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
        bool isWrong = await ReplayStart
            .BeginAsync(Replay, stream, heldTo, Mark, Known, cancellationToken)
            .ConfigureAwait(false);
        if (isWrong)
            MarkIsWrong?.Invoke();
    }
}
