using LightQ.Broker.Groups;
using LightQ.Broker.Topics;
using LightQ.Protocol.Batches;

namespace LightQ.Broker.DeadLetters;

/// <summary>
/// The dead letters of one group about one topic, one by one: those whose originals this node leads. For one call.
/// </summary>
internal sealed class GroupLetters(
    LightQBroker broker,
    GroupStore store,
    Topic topic,
    string group,
    IReadOnlyList<Group> groups
)
{
    /// <summary>What one listing reads at most, in pages of letters: some 32 MiB.</summary>
    private const int MostPages = 32;

    /// <summary>How far the position is moved on at most behind a change, in pages.</summary>
    private const int MostPagesBehind = 2;

    private readonly Dictionary<Partition, SettledLetters> _settled = [];

    /// <summary>Takes a letter of a listing.</summary>
    /// <returns>Whether another one is wanted.</returns>
    public delegate bool Visitor(in LetterView letter);

    private delegate bool RecordVisitor(in RecordView record);

    /// <summary>Where the letters are; null when there were none yet.</summary>
    public Topic? DeadLetterTopic { get; } =
        broker.TryGetTopic(DeadLetterOffice.TopicOf(topic), out Topic? dead) ? dead : null;

    /// <summary>Goes through letters from an offset on, settled ones included.</summary>
    /// <param name="start">The first offset.</param>
    /// <param name="visit">Takes them.</param>
    /// <param name="cancellationToken">Ends it.</param>
    /// <returns>Where to go on, and whether nothing is left.</returns>
    /// <exception cref="BrokerException">The dead-letter topic could not be opened.</exception>
    /// <exception cref="IOException">It cannot be read now.</exception>
    public async Task<(long Next, bool AtEnd)> ListAsync(long start, Visitor visit, CancellationToken cancellationToken)
    {
        if (DeadLetterTopic is null)
            return (start, true);
        return await WalkAsync(start, MostPages, Visit, cancellationToken).ConfigureAwait(false);

        bool Visit(in RecordView record) =>
            !TryOpen(record, out LetterOrigin origin)
            || !IsHere(origin.Partition)
            || visit(
                new LetterView(
                    record,
                    origin,
                    SettledOf(origin.Partition).Contains(record.Offset),
                    HoldsOriginal(origin)
                )
            );
    }

    /// <summary>Makes the originals of certain letters available to the group again.</summary>
    /// <returns>What became of each.</returns>
    /// <exception cref="BrokerException">
    /// The group settles automatically, a topic could not be opened, or too many pieces are settled.
    /// </exception>
    /// <exception cref="UnstoredException">The disk refuses; it counts all the same.</exception>
    public Task<IReadOnlyDictionary<long, LetterOutcome>> RedriveAsync(
        IReadOnlyCollection<long> offsets,
        CancellationToken cancellationToken
    )
    {
        if (groups.Any(g => g is not ExplicitGroup))
        {
            throw new BrokerException(
                ErrorCode.NotSupported,
                $"The group '{group}' settles automatically: it dead-letters no messages."
            );
        }
        topic.ThrowIfBroken();
        return ChangeAsync(offsets, Redrive, groups, cancellationToken);
    }

    /// <summary>Settles certain letters and does nothing else.</summary>
    /// <returns>What became of each.</returns>
    /// <exception cref="BrokerException">As <see cref="RedriveAsync"/>.</exception>
    /// <exception cref="UnstoredException">The disk refuses; it counts all the same.</exception>
    public Task<IReadOnlyDictionary<long, LetterOutcome>> DeleteAsync(
        IReadOnlyCollection<long> offsets,
        CancellationToken cancellationToken
    ) => ChangeAsync(offsets, static _ => LetterOutcome.Done, [], cancellationToken);

    private async Task<IReadOnlyDictionary<long, LetterOutcome>> ChangeAsync(
        IReadOnlyCollection<long> offsets,
        Func<LetterOrigin, LetterOutcome> change,
        IReadOnlyList<Group> changed,
        CancellationToken cancellationToken
    )
    {
        var outcomes = offsets.Distinct().ToDictionary(offset => offset, _ => LetterOutcome.NotFound);
        if (DeadLetterTopic is null)
            return outcomes;
        Dictionary<long, LetterOrigin> letters = await FindAsync(outcomes.Keys, cancellationToken)
            .ConfigureAwait(false);
        foreach ((long offset, LetterOrigin origin) in letters)
        {
            if (!IsHere(origin.Partition))
                outcomes[offset] = LetterOutcome.Elsewhere;
            else if (SettledOf(origin.Partition).Contains(offset))
                outcomes[offset] = LetterOutcome.SettledBefore;
            else
                Demand(PlaceOf(origin.Partition), letters.Count);
        }
        // Nothing awaits between the check and the change: what is done is also kept.
        Dictionary<Partition, List<long>> done = [];
        foreach ((long offset, LetterOrigin origin) in letters.OrderBy(l => l.Key))
        {
            if (outcomes[offset] != LetterOutcome.NotFound)
                continue;
            outcomes[offset] = change(origin);
            if (outcomes[offset] != LetterOutcome.Done)
                continue;
            Partition place = PlaceOf(origin.Partition);
            if (!done.TryGetValue(place, out List<long>? settled))
                done.Add(place, settled = []);
            settled.Add(offset);
        }
        if (done.Count == 0)
            return outcomes;
        await broker
            .Decisions.ChangeAsync(() => broker.Groups.KeepLetters(topic, group, changed, done), CancellationToken.None)
            .ConfigureAwait(false);
        foreach (Partition place in done.Keys)
            await TryMoveOnAsync(place, cancellationToken).ConfigureAwait(false);
        return outcomes;
    }

    private LetterOutcome Redrive(LetterOrigin origin)
    {
        var home = groups.FirstOrDefault(g => g.Partition.Index == origin.Partition) as ExplicitGroup;
        if (!HoldsOriginal(origin) || home is null)
            return LetterOutcome.OriginalGone;
        return home.Redrive(origin.Offset) ? LetterOutcome.Done : LetterOutcome.OriginalUnsettled;
    }

    /// <summary>Which of some offsets hold letters of this group, and about what.</summary>
    private async Task<Dictionary<long, LetterOrigin>> FindAsync(
        IEnumerable<long> offsets,
        CancellationToken cancellationToken
    )
    {
        var found = new Dictionary<long, LetterOrigin>();
        var wanted = new Queue<long>(offsets.Order());
        while (wanted.TryPeek(out long first))
        {
            (long next, bool atEnd) = await WalkAsync(first, 1, Visit, cancellationToken).ConfigureAwait(false);
            while (wanted.TryPeek(out long passed) && (atEnd || passed < next))
                wanted.Dequeue();
        }
        return found;

        bool Visit(in RecordView record)
        {
            while (wanted.TryPeek(out long passed) && passed < record.Offset)
                wanted.Dequeue();
            if (!wanted.TryPeek(out long next))
                return false;
            if (next == record.Offset && TryOpen(record, out LetterOrigin origin))
                found.Add(next, origin);
            return true;
        }
    }

    /// <summary>
    /// Moves the position over letters that are settled: so it takes few pieces, and retention need not keep their
    /// originals.
    /// </summary>
    private async Task TryMoveOnAsync(Partition place, CancellationToken cancellationToken)
    {
        SettledLetters settled = SettledLetters.Of(store, place, group);
        long open = -1;
        try
        {
            (long next, _) = await WalkAsync(settled.Next, MostPagesBehind, Visit, cancellationToken)
                .ConfigureAwait(false);
            broker.Groups.MoveLetters(topic, group, place, open >= 0 ? open : next);
        }
        catch (Exception e)
            when (e is IOException or BrokerException
                || (e is OperationCanceledException && cancellationToken.IsCancellationRequested)
            )
        {
            // What was asked for is done. The next change moves the position.
        }

        bool Visit(in RecordView record)
        {
            if (
                !TryOpen(record, out LetterOrigin origin)
                || PlaceOf(origin.Partition) != place
                || settled.Contains(record.Offset)
            )
            {
                return true;
            }
            open = record.Offset;
            return false;
        }
    }

    /// <summary>Goes through what is in the dead-letter topic.</summary>
    /// <returns>Where to go on: behind the record of which no other was wanted, or behind the last page.</returns>
    private async Task<(long Next, bool AtEnd)> WalkAsync(
        long start,
        int mostPages,
        RecordVisitor visit,
        CancellationToken cancellationToken
    )
    {
        long next = start;
        for (int pages = 0; pages < mostPages; pages++)
        {
            LetterPage page = await LetterPage
                .ReadAsync(DeadLetterTopic!, next, broker.LetterCarrier, cancellationToken)
                .ConfigureAwait(false);
            next = Math.Max(next, page.Start);
            foreach (byte[] batch in page.Batches)
            {
                if (!Visit(batch, ref next, visit))
                    return (next, next >= page.End);
            }
            next = Math.Max(next, Math.Min(page.Next, page.End));
            if (next >= page.End)
                return (next, true);
        }
        return (next, false);
    }

    private static bool Visit(byte[] batch, ref long next, RecordVisitor visit)
    {
        var view = new BatchView(batch);
        if (!DeadLetterBatch.HoldsLetters(view))
            return true; // The broker did not write this message.
        foreach (RecordView record in view.Records)
        {
            if (record.Offset < next)
                continue;
            next = record.Offset + 1;
            if (!visit(record))
                return false;
        }
        return true;
    }

    /// <summary>Reads whose letter a record is.</summary>
    /// <returns>Whether it is one of this group about this topic, and not about a deleted one of its name.</returns>
    private bool TryOpen(in RecordView record, out LetterOrigin origin) =>
        LetterOrigin.TryRead(record, out origin)
        && origin.Group == group
        && origin.Topic == topic.Name
        && origin.TopicId == topic.Id.ToString("N")
        && origin.Partition < topic.Partitions.Length;

    private bool IsHere(uint partition) =>
        topic.Partitions[(int)partition].Refusal is not { Code: ErrorCode.NotLeader };

    private bool HoldsOriginal(in LetterOrigin origin)
    {
        Partition home = topic.Partitions[(int)origin.Partition];
        return home.Refusal is null && origin.Offset >= home.Log.StartOffset && origin.Offset < home.Log.EndOffset;
    }

    private Partition PlaceOf(uint partition) => DeadLetters.Redrive.PlaceOf(topic.Partitions[(int)partition]);

    private SettledLetters SettledOf(uint partition)
    {
        Partition place = PlaceOf(partition);
        if (!_settled.TryGetValue(place, out SettledLetters? settled))
            _settled.Add(place, settled = SettledLetters.Of(store, place, group));
        return settled;
    }

    /// <exception cref="BrokerException">So many more could make too many pieces.</exception>
    private void Demand(Partition place, int more)
    {
        int pieces = SettledLetters.Of(store, place, group).Pieces;
        if (pieces + more <= SettledLetters.MostPieces)
            return;
        throw new BrokerException(
            ErrorCode.ResourceExhausted,
            $"The group '{group}' has settled letters in {pieces} separate places, and {more} more could be too many; "
                + $"allowed: {SettledLetters.MostPieces}. Settle letters with lower offsets first, or redrive all."
        );
    }
}
