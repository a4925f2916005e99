using LightQ.Broker.Groups;
using LightQ.Broker.Topics;
using LightQ.Protocol.Batches;

namespace LightQ.Broker.DeadLetters;

/// <summary>
/// Goes through a dead-letter topic from where it stopped the last time, and makes the originals available again to the
/// group that gave them up.
/// </summary>
internal sealed class Redrive(
    LightQBroker broker,
    GroupStore store,
    Topic topic,
    string group,
    IReadOnlyList<Group> groups
)
{
    /// <summary>No group has such a name: '/' never occurs in one.</summary>
    private const string PositionPrefix = "/redrive/";

    /// <summary>By partition of originals, the letters that are settled.</summary>
    private Dictionary<uint, SettledLetters> _settled = [];
    private long _redriven;
    private long _skipped;

    /// <summary>Whether a kept position is a redrive's and not a group's.</summary>
    public static bool IsPosition(string name) => name.StartsWith(PositionPrefix, StringComparison.Ordinal);

    /// <summary>The name under which the last redriven dead letter of a group is kept, beside groups.</summary>
    public static string NameOf(string group) => PositionPrefix + group;

    /// <summary>
    /// Beside the groups of which partition it is kept: of the topic's first, or of the originals' own where each
    /// partition may be another node's.
    /// </summary>
    public static Partition PlaceOf(Partition partition) =>
        partition.Topic.Settings.IsReplicated ? partition : partition.Topic.Partitions[0];

    /// <exception cref="BrokerException">
    /// The group settles automatically: it gives nothing up. Or a partition of one of the topics could not be opened.
    /// </exception>
    /// <exception cref="IOException">The dead-letter topic cannot be read.</exception>
    public async Task<(long Redriven, long Skipped)> RunAsync(CancellationToken cancellationToken)
    {
        if (groups.Any(g => g is not ExplicitGroup))
        {
            throw new BrokerException(
                ErrorCode.NotSupported,
                $"The group '{group}' settles automatically: it dead-letters no messages."
            );
        }

        if (!broker.TryGetTopic(DeadLetterOffice.TopicOf(topic), out Topic? dead))
            return (0, 0);
        topic.ThrowIfBroken(); // Redrive would skip a letter for good whose original cannot be read now.
        Partition[] own = [.. topic.Partitions.Where(p => p.Refusal is null)];
        _settled = own.ToDictionary(p => p.Index, p => SettledLetters.Of(store, PlaceOf(p), group));
        long next = _settled.Values.Select(s => s.Next).DefaultIfEmpty(0).Min();
        try
        {
            long? end = null;
            do
            {
                LetterPage page = await LetterPage
                    .ReadAsync(dead, next, broker.LetterCarrier, cancellationToken)
                    .ConfigureAwait(false);
                end ??= page.End;
                foreach (byte[] batch in page.Batches)
                    Take(batch, next);
                next = Math.Max(next, page.Next);
            } while (next < end);
        }
        finally
        {
            Partition[] moved = [.. own.Where(p => _settled[p.Index].Next < next)];
            broker.Groups.KeepRedriven(topic, group, groups, moved, next);
        }
        return (_redriven, _skipped);
    }

    private void Take(byte[] batch, long from)
    {
        var view = new BatchView(batch);
        if (!DeadLetterBatch.HoldsLetters(view))
            return; // The broker did not write this message.
        foreach (RecordView record in view.Records)
        {
            if (record.Offset >= from)
                Take(record);
        }
    }

    private void Take(in RecordView record)
    {
        bool isKnown = LetterOrigin.TryRead(record, out LetterOrigin origin);
        if (origin.Group != group || origin.Topic != topic.Name)
            return;
        if (topic.Settings.IsReplicated && !_settled.ContainsKey(origin.Partition))
            return; // The node that leads the original redrives it.
        if (_settled.GetValueOrDefault(origin.Partition)?.Contains(record.Offset) == true)
            return;
        var home = groups.FirstOrDefault(g => g.Partition.Index == origin.Partition) as ExplicitGroup;
        bool isOfThisTopic = origin.TopicId == topic.Id.ToString("N"); // Not of a deleted topic of that name.
        if (isKnown && isOfThisTopic && home is not null && home.Redrive(origin.Offset))
            _redriven++;
        else
            _skipped++;
    }
}
