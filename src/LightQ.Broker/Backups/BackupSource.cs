using LightQ.Broker.Catalog;
using LightQ.Broker.Groups;
using LightQ.Broker.Replication;
using LightQ.Broker.Topics;
using LightQ.Storage.State;

namespace LightQ.Broker.Backups;

/// <summary>Notes what there is to back up.</summary>
/// <param name="topics">The topics.</param>
/// <param name="groups">Keeps positions.</param>
/// <param name="positions">Those on the disk.</param>
/// <param name="catalog">What there is.</param>
/// <param name="streams">Copies topics with replicas; null where there are none.</param>
/// <param name="time">The clock.</param>
internal sealed class BackupSource(
    Func<IEnumerable<Topic>> topics,
    GroupRegistry groups,
    OffsetStore positions,
    TopicCatalog catalog,
    StreamCopier? streams,
    TimeProvider time
)
{
    /// <summary>Takes what there is to back up, as of now.</summary>
    /// <param name="changes">Held while topics are made and changed.</param>
    /// <param name="skipFailed">Whether topics that could not be opened are left out.</param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <exception cref="BrokerException">
    /// A topic could not be opened, <see cref="ErrorCode.TopicFailed"/>, or the engine does not answer.
    /// </exception>
    public async Task<BrokerBackup> BeginAsync(Lock changes, bool skipFailed, CancellationToken cancellationToken)
    {
        // The order is what BrokerBackup promises: positions first, those in streams too.
        List<StreamMoment> moments = [];
        List<Topic> failed = [];
        foreach (Topic topic in topics().Where(IsInStreams))
        {
            try
            {
                moments.AddRange(await streams!.TakeAsync(topic, cancellationToken).ConfigureAwait(false));
            }
            catch (ReplicationException) when (skipFailed)
            {
                failed.Add(topic);
            }
            catch (ReplicationException e)
            {
                throw BrokerBackup.Unreadable(topic, e);
            }
        }
        BrokerBackup begun;
        lock (changes)
            begun = Take(skipFailed);
        for (int i = 0; i < moments.Count; i++)
            moments[i] = await ExtendAsync(moments[i], cancellationToken).ConfigureAwait(false);
        return streams is null ? begun : begun.With(moments, streams, failed, skipFailed);
    }

    private static async Task<StreamMoment> ExtendAsync(StreamMoment moment, CancellationToken cancellationToken)
    {
        try
        {
            return await moment.ExtendAsync(cancellationToken).ConfigureAwait(false);
        }
        catch (ReplicationException e)
        {
            throw BrokerBackup.Unreadable(moment.Topic, e);
        }
    }

    private BrokerBackup Take(bool skipFailed)
    {
        Topic[] durable =
        [
            .. topics().Where(t => t.Settings.Kind == TopicKind.Durable && !IsInStreams(t) && !t.IsElsewhere),
        ];
        Topic[] failed = [.. durable.Where(t => t.IsIncomplete)];
        if (failed.Length != 0 && !skipFailed)
        {
            throw new BrokerException(
                ErrorCode.TopicFailed,
                $"The topic '{failed[0].Name}' could not be opened, so it cannot be backed up: {failed[0].Failure}"
            );
        }

        Partition[] partitions = [.. durable.Except(failed).SelectMany(t => t.Partitions)];
        foreach (Partition partition in partitions)
            groups.Keep(partition);
        return new BrokerBackup(
            time.GetUtcNow(),
            positions.Capture(),
            [.. partitions.Select(p => (p, p.Log.Capture()!))],
            failed,
            catalog
        );
    }

    private bool IsInStreams(Topic topic) => streams is not null && topic.Settings.IsReplicated;
}
