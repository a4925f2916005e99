using LightQ.Broker.Catalog;
using LightQ.Broker.Replication;
using LightQ.Broker.Topics;
using LightQ.Storage.Backups;
using LightQ.Storage.State;

namespace LightQ.Broker.Backups;

/// <summary>What a broker keeps, as of one moment; copied while the broker goes on.</summary>
/// <remarks>
/// <para>
/// What belongs together is taken in an order in which it never contradicts itself: positions before the ends of logs,
/// so that no group stands behind its log's end and no letter is missing that was settled; the catalog last, so that it
/// knows every producer whose batches are in a log. What was deleted in between is in none of them.
/// </para>
/// <para>
/// Topics with replicas are in it as topics without: the streams are not in a backup, and a broker that restores it may
/// have no cluster.
/// </para>
/// </remarks>
public sealed class BrokerBackup
{
    private const int BufferBytes = 64 * 1024; // Below the size from which memory counts as a large object.
    private const string TopicsDirectory = "topics",
        GroupsDirectory = "groups",
        CatalogDirectory = "catalog";

    private readonly IReadOnlyList<(OffsetKey Key, ReadOnlyMemory<byte> Record)> _positions;
    private readonly IReadOnlyList<(Partition Partition, JournalSnapshot Log)> _logs;
    private readonly HashSet<Guid> _topics;
    private IReadOnlyList<StreamMoment> _moments = [];
    private StreamCopier? _streams;
    private bool _skipsFailed;
    private readonly TopicCatalog _catalog;
    private readonly List<Topic> _skipped = [];

    internal BrokerBackup(
        DateTimeOffset time,
        IReadOnlyList<(OffsetKey, ReadOnlyMemory<byte>)> positions,
        IReadOnlyList<(Partition, JournalSnapshot)> logs,
        IReadOnlyList<Topic> skipped,
        TopicCatalog catalog
    )
    {
        Time = time;
        _skipped.AddRange(skipped);
        _positions = positions;
        _logs = logs;
        _topics = [.. logs.Select(l => l.Item1.Topic.Id)];
        _catalog = catalog;
    }

    /// <summary>The moment.</summary>
    public DateTimeOffset Time { get; }

    /// <summary>About how many bytes there are to copy; of streams, what this node has of them itself.</summary>
    public long Bytes =>
        _logs.Sum(l => l.Log.Bytes) + _moments.Sum(m => m.Topic.Partitions[(int)m.Index].Log.StoredBytes);

    /// <summary>Topics that could not be opened, and are left out.</summary>
    public IReadOnlyList<Topic> SkippedTopics => _skipped;

    /// <summary>Copies it. Blocks on the disk.</summary>
    /// <param name="brokerId">The broker's id.</param>
    /// <param name="sink">Where it goes.</param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <exception cref="BrokerException">
    /// The broker is stopping, or a topic's replicated log does not answer or is damaged.
    /// </exception>
    /// <exception cref="IOException">The disk refuses to read.</exception>
    /// <returns>
    /// The topics that it holds, by name; of those that were deleted meanwhile, files may have been written.
    /// </returns>
    public async Task<IReadOnlyList<BackupTopic>> CopyAsync(
        Guid brokerId,
        IBackupSink sink,
        CancellationToken cancellationToken
    )
    {
        byte[] buffer = GC.AllocateUninitializedArray<byte>(BufferBytes);
        foreach ((Partition partition, JournalSnapshot log) in _logs)
        {
            if (partition.Topic.Deleted.IsCompleted)
                continue;
            string directory = $"{TopicsDirectory}/{partition.Topic.Id:N}/{partition.Index}";
            bool isCopied = await log.TryCopyAsync(directory, sink, buffer, cancellationToken).ConfigureAwait(false);
            if (!isCopied && !partition.Topic.Deleted.IsCompleted)
                throw new BrokerException(ErrorCode.ShuttingDown, "The broker is stopping.");
        }
        var positions = _positions.Where(p => _moments.All(m => m.Topic.Id != p.Key.TopicId)).ToList();
        foreach (IGrouping<Topic, StreamMoment> moments in _moments.GroupBy(m => m.Topic))
            positions.AddRange(await CopyAsync(moments, sink, buffer, cancellationToken).ConfigureAwait(false));
        IReadOnlyList<CatalogRecord> records = _catalog.Capture(_topics);
        BackupTopic[] topics =
        [
            .. records
                .Select(r => r.Topic)
                .OfType<CatalogRecord.TopicEntry>()
                .Select(ToTopic)
                .OrderBy(t => t.Name, StringComparer.Ordinal),
        ];
        HashSet<string> kept = [.. topics.Select(t => t.Id)];
        await WriteRecordsAsync(
                GroupsDirectory,
                positions.Where(p => kept.Contains(p.Key.TopicId.ToString("N"))).Select(p => p.Record)
            )
            .ConfigureAwait(false);
        await WriteRecordsAsync(CatalogDirectory, records.Select(r => (ReadOnlyMemory<byte>)WithoutReplicas(r).Write()))
            .ConfigureAwait(false);
        await sink.WriteFileAsync(BrokerIdentity.FileName, BrokerIdentity.Encode(brokerId), cancellationToken)
            .ConfigureAwait(false);
        return topics;

        ValueTask WriteRecordsAsync(string directory, IEnumerable<ReadOnlyMemory<byte>> content) =>
            sink.WriteFileAsync(
                $"{directory}/{RecordJournal.FirstFileName}",
                RecordJournal.EncodeFile(content),
                cancellationToken
            );
    }

    /// <summary>The same backup, with partitions of topics with replicas.</summary>
    internal BrokerBackup With(
        IReadOnlyList<StreamMoment> moments,
        StreamCopier streams,
        IEnumerable<Topic> skipped,
        bool skipsFailed
    )
    {
        (_moments, _streams, _skipsFailed) = (moments, streams, skipsFailed);
        _skipped.AddRange(skipped);
        _topics.UnionWith(moments.Select(m => m.Topic.Id));
        return this;
    }

    /// <summary>A topic's replicated log cannot be read.</summary>
    internal static BrokerException Unreadable(Topic topic, ReplicationException reason) =>
        new(
            ErrorCode.Unavailable,
            $"The replicated log of the topic '{topic.Name}' cannot be read, so it cannot be backed up: "
                + reason.Message
        );

    private async Task<IEnumerable<(OffsetKey, ReadOnlyMemory<byte>)>> CopyAsync(
        IGrouping<Topic, StreamMoment> moments,
        IBackupSink sink,
        Memory<byte> buffer,
        CancellationToken cancellationToken
    )
    {
        Topic topic = moments.Key;
        var positions = new List<StoredPosition>();
        foreach (StreamMoment moment in moments)
        {
            try
            {
                string directory = $"{TopicsDirectory}/{topic.Id:N}/{moment.Index}";
                positions.AddRange(
                    await _streams!.CopyAsync(moment, directory, sink, buffer, cancellationToken).ConfigureAwait(false)
                );
            }
            catch (ReplicationException) when (topic.Deleted.IsCompleted)
            {
                return []; // Its streams are gone with it.
            }
            catch (ReplicationException) when (_skipsFailed)
            {
                _skipped.Add(topic);
                _topics.Remove(topic.Id);
                return [];
            }
            catch (ReplicationException e)
            {
                throw Unreadable(topic, e);
            }
        }
        return StreamCopier
            .WithoutReplicas(positions, moments.Count())
            .Select(p => (new OffsetKey(p.Name, topic.Id, p.Partition), p.Encode(topic.Id)));
    }

    private static CatalogRecord WithoutReplicas(CatalogRecord record) =>
        record.Topic is { Settings.IsReplicated: true } topic
            ? record with
            {
                Topic = topic with { Settings = topic.Settings.WithReplicas(0) },
            }
            : record;

    private static BackupTopic ToTopic(CatalogRecord.TopicEntry entry) =>
        new(
            entry.Name,
            entry.Id.ToString("N"),
            (int)entry.Settings.Partitions,
            entry.Settings.Kind == TopicKind.Durable,
            (int)Math.Max(1, entry.Settings.Replicas)
        );
}
