using LightQ.Protocol.Batches;

namespace LightQ.Broker.Replication;

/// <summary>
/// Reads a partition's stream and decides, from its entries alone, which of them count: rule R3 of
/// docs/design/cluster.md. Owners, readers, backups and checkers all decide by it, so they agree for ever.
/// </summary>
/// <remarks>
/// An entry counts when its epoch is that of the last claim in front of it, and its offset is the one that comes next.
/// Anything else is void: what an owner had under way when another one claimed. A claim that is the stream's first
/// entry says with which epoch and offset the stream begins. One thread at a time.
/// </remarks>
internal sealed class LogReplay(IReplayTarget target)
{
    private const int FollowedAtOnce = 4;

    /// <summary>
    /// So many entries are asked for at once, each alone: less than it takes an engine to begin a read.
    /// </summary>
    private const int Few = 16;

    private readonly List<ReadOnlyMemory<byte>> _parts = [];
    private SavedState? _awaited;
    private ulong _lastPart;
    private uint _lastChecksum;
    private long _purgedTo;
    private bool _isBehindHole; // Until an entry counts.

    /// <summary>The sequence of the last entry that was read.</summary>
    public ulong Sequence { get; private set; }

    /// <summary>The epoch of the last claim; 0 in front of the first.</summary>
    public uint Epoch { get; private set; }

    /// <summary>The offset of the message that comes next.</summary>
    public long NextOffset { get; private set; }

    /// <summary>When the last batch was appended, in unix microseconds.</summary>
    public long AppendTime { get; private set; }

    /// <summary>The sequence of the last snapshot that counts; 0 for none.</summary>
    public ulong ConfirmedSnapshot { get; private set; }

    /// <summary>What was read behind that snapshot.</summary>
    public StreamTail Tail { get; private set; }

    /// <summary>Who claimed last; null for nobody.</summary>
    public Claimant? Claimant { get; private set; }

    /// <summary>How many entries were void.</summary>
    public long VoidEntries { get; private set; }

    /// <summary>Begins at the front of the stream, or of what retention has left of it: claims stay.</summary>
    /// <param name="saved">
    /// A snapshot that counts; null for none. Retention may have removed what is in front of it, and further behind
    /// nothing may be missing. The state is the snapshot's from there on.
    /// </param>
    public void StartAtFront(SavedState? saved)
    {
        (Sequence, Epoch, NextOffset, AppendTime, ConfirmedSnapshot) = (0, 0, 0, 0, 0);
        (_awaited, _purgedTo) = (saved, saved?.EndOffset ?? 0);
    }

    /// <summary>
    /// Begins behind an entry that counts and was read before, with everything in front of it. The state is the
    /// snapshot's from there on.
    /// </summary>
    /// <param name="mark">The entry; the stream has it.</param>
    /// <param name="saved">A snapshot that counts and lies behind it.</param>
    public void StartAt(in StreamMark mark, SavedState saved)
    {
        (Sequence, Epoch, NextOffset, AppendTime, ConfirmedSnapshot) = (
            mark.Sequence,
            mark.Epoch,
            mark.NextOffset,
            mark.AppendTime,
            0
        );
        (_awaited, _purgedTo) = (saved, saved.EndOffset);
    }

    /// <summary>Begins behind a snapshot that a claim or a later entry has named (rule R4).</summary>
    public void StartBehind(SavedState saved)
    {
        (Sequence, Epoch, NextOffset, AppendTime, ConfirmedSnapshot) = (
            saved.Sequence,
            saved.Epoch,
            saved.EndOffset,
            saved.AppendTime,
            saved.Sequence
        );
        target.OnSnapshot(saved.State);
    }

    /// <summary>Reads everything that is stored up to a sequence.</summary>
    /// <exception cref="ReplicationException">The engine fails, or what it gives is damaged or not whole.</exception>
    public async ValueTask ReadAsync(IReplicatedStream stream, ulong last, CancellationToken cancellationToken)
    {
        // All in one round trip, and nothing behind the end that is known: a handover waits for each.
        if (last > Sequence && last - Sequence <= Few)
            await TryTakeNextAsync(stream, (int)(last - Sequence), cancellationToken).ConfigureAwait(false);
        if (last <= Sequence)
            return;
        await foreach (
            StreamEntry entry in stream.ReadAsync(Sequence + 1, last, cancellationToken).ConfigureAwait(false)
        )
        {
            await TakeAsync(stream.Name, entry, cancellationToken).ConfigureAwait(false);
        }
        Sequence = Math.Max(Sequence, last); // The last ones may have been purged.
        LoadAwaited(stream.Name, Sequence + 1);
    }

    /// <summary>
    /// Reads on behind what was read, as far as entries are there at once: for the few that have come meanwhile, in one
    /// round trip.
    /// </summary>
    public async ValueTask FollowAsync(IReplicatedStream stream, CancellationToken cancellationToken)
    {
        while (await TryTakeNextAsync(stream, FollowedAtOnce, cancellationToken).ConfigureAwait(false)) { }
    }

    /// <summary>Takes the next entry in.</summary>
    /// <returns>Whether it counts.</returns>
    public async ValueTask<bool> TakeAsync(string stream, StreamEntry entry, CancellationToken cancellationToken)
    {
        if (entry.Sequence <= Sequence)
            throw new ReplicationException($"{stream}: entry {entry.Sequence} came behind {Sequence}.");
        LoadAwaited(stream, entry.Sequence); // Its own entries may have been purged meanwhile.
        _isBehindHole |= entry.Sequence != Sequence + 1;
        Sequence = entry.Sequence;
        Tail = Tail.Add(entry.Payload.Length);
        bool isValid =
            entry.Kind == EntryKind.Data
                ? await TakeRunAsync(stream, entry, cancellationToken).ConfigureAwait(false)
                : TakeControl(stream, entry);
        if (isValid)
            _isBehindHole = false;
        else
            VoidEntries++;
        LoadAwaited(stream, Sequence + 1);
        return isValid;
    }

    /// <returns>Whether all of them are there.</returns>
    private async ValueTask<bool> TryTakeNextAsync(
        IReplicatedStream stream,
        int count,
        CancellationToken cancellationToken
    )
    {
        Task<StreamEntry?>[] asked =
        [
            .. Enumerable.Range(1, count).Select(i => stream.GetAsync(Sequence + (ulong)i, cancellationToken).AsTask()),
        ];
        foreach (StreamEntry? found in await Task.WhenAll(asked).ConfigureAwait(false))
        {
            if (found is not { } entry)
                return false;
            await TakeAsync(stream.Name, entry, cancellationToken).ConfigureAwait(false);
        }
        return true;
    }

    private bool TakeControl(string stream, in StreamEntry stored)
    {
        if (!ControlEntry.TryDecode(stored, out ControlEntry? decoded))
            throw Damaged(stream, stored, "its checksum or layout is wrong");
        ControlEntry entry = decoded.Value;
        bool isClaim = entry.Kind == EntryKind.Claim;
        // A topic may have had messages before it had replicas.
        if (isClaim && stored.Sequence == 1 && entry.Epoch != 0)
            (Epoch, NextOffset) = (entry.Epoch - 1, entry.EndOffset);
        Place(stream, stored, isClaim ? Math.Max(entry.Epoch, 1) - 1 : entry.Epoch, entry.EndOffset);
        if (entry.Epoch != (isClaim ? Epoch + 1 : Epoch) || entry.EndOffset != NextOffset)
            return false;
        if (isClaim)
        {
            Epoch = entry.Epoch;
            Claimant = Replication.Claimant.Decode(entry.Body.Span);
            target.OnRead(StreamMark.Of(stored.Sequence, entry, stored.Payload.Span), stored.Payload.Length);
        }
        else if (entry.Kind == EntryKind.Snapshot)
        {
            TakePart(stored.Sequence, entry);
        }
        else if (_awaited is null)
        {
            target.OnPositions(entry.Body.Span);
        }
        return true;
    }

    /// <summary>A snapshot counts when all of its parts are there, one behind the other: half of one is none.</summary>
    private void TakePart(ulong sequence, in ControlEntry part)
    {
        bool follows = part.Part == _parts.Count && sequence == _lastPart + 1;
        if (part.Part == 0 || !follows)
            _parts.Clear();
        if (part.Part != _parts.Count)
            return;
        _parts.Add(part.Body);
        _lastPart = sequence;
        if (part.PartsLeft != 0)
            return;
        (ConfirmedSnapshot, Tail) = (sequence, default);
        if (_awaited is null)
            target.OnPassed(SavedState.Join(_parts));
        _parts.Clear();
    }

    /// <summary>What was read from the front has come to the snapshot: its state counts from here on.</summary>
    private void LoadAwaited(string stream, ulong next)
    {
        if (_awaited is not { } saved || next <= saved.Sequence)
            return;
        if (NextOffset != saved.EndOffset)
        {
            throw new ReplicationException(
                $"{stream}: the snapshot {saved.Sequence} stands at offset {saved.EndOffset}, and what is in front of "
                    + $"it ends at {NextOffset}."
            )
            {
                IsLoss = true,
            };
        }
        _awaited = null;
        (ConfirmedSnapshot, Tail) = (saved.Sequence, default);
        target.OnSnapshot(saved.State);
    }

    /// <summary>A run counts as a whole or not at all: it was one append.</summary>
    private async ValueTask<bool> TakeRunAsync(string stream, StreamEntry entry, CancellationToken cancellationToken)
    {
        if (!Counts(stream, entry))
            return false;
        int at = 0;
        while (at < entry.Payload.Length)
        {
            if (TryTakeBatch(entry.Payload.Span[at..], out int length))
                at += length;
            else
                await target.WaitForRoomAsync(cancellationToken).ConfigureAwait(false);
        }
        target.OnRead(
            new StreamMark(entry.Sequence, EntryKind.Data, Epoch, NextOffset, AppendTime, _lastChecksum),
            entry.Payload.Length
        );
        return true;
    }

    private bool TryTakeBatch(ReadOnlySpan<byte> bytes, out int length)
    {
        BatchView.TryRead(bytes, out BatchView batch);
        length = batch.Length;
        if (!target.TryTake(batch, isInSnapshot: _awaited is not null))
            return false;
        (NextOffset, AppendTime, _lastChecksum) = (batch.NextOffset, batch.AppendTime, batch.HeaderCrc);
        return true;
    }

    private bool Counts(string stream, in StreamEntry entry)
    {
        long next = -1;
        for (ReadOnlySpan<byte> left = entry.Payload.Span; !left.IsEmpty; )
        {
            if (!BatchView.TryRead(left, out BatchView batch) || !batch.VerifyHeader())
                throw Damaged(stream, entry, "a batch's header is wrong");
            if (!batch.VerifyPayload())
                throw Damaged(stream, entry, $"the payload of the batch at offset {batch.BaseOffset} is wrong");
            if (next < 0)
            {
                Place(stream, entry, batch.LeaderEpoch, batch.BaseOffset);
                if (batch.LeaderEpoch != Epoch || batch.BaseOffset != NextOffset)
                    return false;
            }
            else if (batch.LeaderEpoch != Epoch || batch.BaseOffset != next)
            {
                throw Damaged(stream, entry, $"the batch at offset {batch.BaseOffset} does not follow the one before");
            }
            next = batch.NextOffset;
            left = left[batch.Length..];
        }
        return next >= 0;
    }

    /// <summary>
    /// Finds out whether an entry can stand here: behind its epoch's claim, and behind a hole only where retention has
    /// left every claim, and everything behind the snapshot that counts.
    /// </summary>
    /// <remarks>
    /// A node appends nothing before its claim is stored, so that an epoch without a claim in front is never void: the
    /// replica that was read lacks the claim, or has something else in its place.
    /// </remarks>
    /// <exception cref="ReplicationException">Something is missing that retention has not removed.</exception>
    private void Place(string stream, in StreamEntry entry, uint epoch, long offset)
    {
        if (epoch > Epoch)
        {
            throw new ReplicationException(
                $"{stream}: in front of entry {entry.Sequence} the claim of epoch {epoch} is missing, which retention "
                    + "does not remove."
            )
            {
                IsLoss = true,
            };
        }
        if (!_isBehindHole)
            return;
        if (offset <= _purgedTo)
            NextOffset = Math.Max(NextOffset, offset);
        if (epoch == Epoch && offset > NextOffset)
        {
            throw new ReplicationException(
                $"{stream}: entries in front of {entry.Sequence} are missing, with the offsets {NextOffset} to "
                    + $"{offset - 1}."
            )
            {
                IsLoss = true,
            };
        }
    }

    private static ReplicationException Damaged(string stream, in StreamEntry entry, string what) =>
        new($"{stream}: entry {entry.Sequence} ({entry.Kind}) is damaged: {what}.") { IsLoss = true };
}
