using LightQ.Broker.Groups;
using LightQ.Broker.Logs;
using LightQ.Broker.Topics;
using LightQ.Protocol;
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

    private long _redriven;
    private long _skipped;

    /// <summary>Whether a kept position is a redrive's and not a group's.</summary>
    public static bool IsPosition(string name) => name.StartsWith(PositionPrefix, StringComparison.Ordinal);

    /// <summary>
    /// The name under which the last redriven dead letter of a group is kept, beside the groups of the topic's first
    /// partition.
    /// </summary>
    public static string NameOf(string group) => PositionPrefix + group;

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
        topic.ThrowIfIncomplete(); // Redrive would skip a letter for good whose original cannot be read now.
        ITopicLog log = dead.GetPartition(0).Log;
        store.TryGet(topic.Partitions[0], NameOf(group), out long next, out _);
        next = Math.Max(next, log.StartOffset);
        try
        {
            for (long end = log.ReadableOffset; next < end; )
            {
                (byte[]? batch, long behind) = await BatchFetch
                    .ReadAsync(log, next, cancellationToken)
                    .ConfigureAwait(false);
                if (batch is not null)
                    Take(batch, next);
                next = Math.Min(behind, end);
            }
        }
        finally
        {
            broker.Groups.KeepRedriven(topic, group, groups, next);
        }
        return (_redriven, _skipped);
    }

    private void Take(byte[] batch, long from)
    {
        var view = new BatchView(batch);
        if (!DeadLetterBatch.HasReadableRecords(view))
            return; // The broker did not write this message.
        foreach (RecordView record in view.Records)
        {
            if (record.Offset >= from)
                Take(record);
        }
    }

    private void Take(in RecordView record)
    {
        try
        {
            bool isKnown = LetterOrigin.Read(record, out LetterOrigin origin);
            if (origin.Group != group || origin.Topic != topic.Name)
                return;
            var home = groups.FirstOrDefault(g => g.Partition.Index == origin.Partition) as ExplicitGroup;
            bool isOfThisTopic = origin.TopicId == topic.Id.ToString("N"); // Not of a deleted topic of that name.
            if (isKnown && isOfThisTopic && home is not null && home.Redrive(origin.Offset))
                _redriven++;
            else
                _skipped++;
        }
        catch (ProtocolException)
        {
            _skipped++; // Its headers contradict themselves: another program wrote them.
        }
    }
}
