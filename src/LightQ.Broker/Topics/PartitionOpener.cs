using System.Collections.Concurrent;
using LightQ.Broker.Catalog;
using LightQ.Broker.Cluster;
using LightQ.Broker.Deduplication;
using LightQ.Broker.Delays;
using LightQ.Broker.Groups;
using LightQ.Broker.Logs;
using LightQ.Broker.Producers;
using LightQ.Broker.Replication;
using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Storage;
using LightQ.Storage.Files;

namespace LightQ.Broker.Topics;

/// <summary>Makes or recovers the logs behind the partitions of topics.</summary>
/// <remarks>
/// Opening a journal waits for syncs, and those of different files overlap: threads of its own, which the pool would
/// add one by one.
/// </remarks>
internal sealed class PartitionOpener(
    string topicsDirectory,
    JournalEnvironment environment,
    TimeProvider time,
    DelaySchedule delays,
    Func<BrokerOptions> broker,
    LimitRefusals refusals,
    Func<Partition, long> settledBefore,
    TopicCatalog catalog,
    KnownOffsets known
)
{
    private const int Threads = 8;

    /// <summary>
    /// Called when the disk has filled under the journal of a partition with replicas, or has room again.
    /// </summary>
    public Action? LocalChanged { get; set; }

    /// <summary>What the catalog knows of the owners of partitions with replicas.</summary>
    public OwnerNotes Owners { get; } = new(catalog, time);

    /// <summary>
    /// Makes every partition of a new topic, or none: when one fails, those that were made are removed.
    /// </summary>
    /// <remarks>
    /// The catalog learns of a topic when its files are on the disk: one that it knows must have them.
    /// </remarks>
    /// <exception cref="BrokerException">One of them cannot be made.</exception>
    public void Create(Topic topic)
    {
        TopicOpening opening = Open([topic], isNew: true, static (_, _, _) => false)[0];
        if (opening.Failure is not { } failure)
            return;
        Remove(topic.Id);
        broker().StorageEvents?.OnRefused($"the files of the topic {topic.Name}", failure);
        throw new BrokerException(
            DiskError.IsFull(failure) ? ErrorCode.DiskFull : ErrorCode.Internal,
            $"The topic's files could not be made: {DiskError.Describe(failure)}."
        );
    }

    /// <summary>Recovers the partitions of topics that the catalog knows.</summary>
    /// <param name="topics">
    /// The topics. A partition that cannot be opened is refused, and says why; the others of its topic are served.
    /// </param>
    /// <param name="isProducer">
    /// Whether a topic has a named producer of an id, and may have given it an epoch. What else a log says of producers
    /// is nobody's.
    /// </param>
    public void Recover(IReadOnlyList<Topic> topics, Func<Guid, ulong, uint, bool> isProducer) =>
        Open(topics, isNew: false, isProducer);

    /// <summary>Removes what is left of a topic: its journals are deleted, or were never made.</summary>
    public void Remove(Guid topicId)
    {
        string directory = DirectoryOf(topicId);
        if (Directory.Exists(directory))
            Directory.Delete(directory, recursive: true);
    }

    private TopicOpening[] Open(IReadOnlyList<Topic> topics, bool isNew, Func<Guid, ulong, uint, bool> isProducer)
    {
        TopicOpening[] openings = [.. topics.Select(t => new TopicOpening(t))];
        var work = new ConcurrentQueue<(TopicOpening Opening, int Index)>(
            openings.SelectMany(o => Enumerable.Range(0, (int)o.Topic.Settings.Partitions).Select(i => (o, i)))
        );
        void OpenEach()
        {
            while (work.TryDequeue(out (TopicOpening Opening, int Index) next))
            {
                next.Opening.Open(
                    next.Index,
                    (topic, index) =>
                        isNew
                            ? OpenOne(topic, (uint)index, isNew, isProducer)
                            : RecoverOne(topic, (uint)index, isProducer)
                );
            }
        }
        if (work.Count == 1)
        {
            OpenEach();
        }
        else
        {
            Task.WaitAll(
                Enumerable
                    .Range(0, Math.Min(Threads, work.Count))
                    .Select(_ =>
                        Task.Factory.StartNew(
                            OpenEach,
                            CancellationToken.None,
                            TaskCreationOptions.LongRunning,
                            TaskScheduler.Default
                        )
                    )
            );
        }

        foreach (TopicOpening opening in openings)
            opening.Complete();
        return openings;
    }

    private Partition RecoverOne(Topic topic, uint index, Func<Guid, ulong, uint, bool> isProducer)
    {
        try
        {
            return OpenOne(topic, index, isNew: false, isProducer);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            var refusal = PartitionRefusal.Of(e);
            return new Partition(topic, index, time) { Refusal = refusal, Log = new RefusedLog(refusal) };
        }
    }

    /// <summary>Opens a partition of a topic with replicas, and claims it.</summary>
    /// <param name="topic">The topic.</param>
    /// <param name="index">The partition's number.</param>
    /// <param name="opened">The partition, if it is open already, not claimed; it is closed when this fails.</param>
    /// <param name="yields">Whether to leave it to a node that claims it at the same time.</param>
    /// <param name="heard">The newest owner that was heard of.</param>
    /// <param name="cancellationToken">Stops it.</param>
    /// <exception cref="ReplicationException">
    /// The engine cannot be reached, or the stream is damaged.
    /// </exception>
    /// <exception cref="IOException">The journal cannot be opened.</exception>
    /// <exception cref="OperationCanceledException">
    /// Stopped, or <paramref name="yields"/> to a node that claimed it first.
    /// </exception>
    public async Task<(Partition Partition, ReplicatedLog Log)> ClaimAsync(
        Topic topic,
        uint index,
        (Partition Partition, ReplicatedLog Log)? opened,
        Func<string, bool> yields,
        HeardOwner heard,
        CancellationToken cancellationToken
    )
    {
        ReplicationOptions replication = broker().Replication!;
        for (long firstOffset = 0; ; )
        {
            (Partition partition, ReplicatedLog log) = opened ?? OpenReplicated(topic, index, firstOffset, yields);
            opened = null;
            try
            {
                await log.ClaimAsync(replication.Node, cancellationToken, heard).ConfigureAwait(false);
                DedupSwitch.Confirm(partition);
                return (partition, log);
            }
            catch (ReplicationException) when (log.Copy.StreamFront is { } front)
            {
                // What the node has, retention has removed from the stream, with something behind it: the copy begins
                // anew where the stream does.
                firstOffset = front;
                TellBegunAnew(partition, log, front);
                await log.DeleteAsync().ConfigureAwait(false);
            }
            catch
            {
                await log.DisposeAsync().ConfigureAwait(false);
                throw;
            }
        }
    }

    /// <summary>Says that this node's copy of a partition is about to be removed.</summary>
    public void TellBegunAnew(Partition partition, ReplicatedLog log, long front) =>
        broker()
            .Replication?.Events?.OnRemoved(
                $"this node's copy of partition {partition.Index} of {partition.Topic.Name}, offsets "
                    + $"{log.StartOffset} to {log.Copy.EndOffset - 1}",
                $"retention has removed from the stream what follows it, up to {front}; the copy begins anew there"
            );

    /// <summary>What this node holds of a partition that it has not opened.</summary>
    public PartitionCopy ReadCopy(Topic topic, uint index)
    {
        var none = new PartitionCopy("", 0, 0);
        if (!Directory.Exists(DirectoryOf(topic.Id)))
            return none;
        try
        {
            (Partition partition, ReplicatedLog log) = OpenReplicated(topic, index, 0, static _ => false);
            var copy = new PartitionCopy("", log.StartOffset, log.Copy.EndOffset);
            partition.Delays?.Stop();
            log.DisposeAsync().AsTask().GetAwaiter().GetResult();
            return copy;
        }
        catch (Exception e) when (e is ReplicationException or IOException or UnauthorizedAccessException)
        {
            return none with { Failure = e.Message };
        }
    }

    /// <summary>What rebuilds the state of a partition that was opened.</summary>
    public PartitionState StateOf(Partition partition) => new(partition, catalog);

    /// <summary>Opens a partition of a topic with replicas, which is not claimed yet.</summary>
    /// <param name="topic">The topic.</param>
    /// <param name="index">The partition's number.</param>
    /// <param name="firstOffset">Where a journal begins that is made anew.</param>
    /// <param name="yields">Whether a claim gives way to a node that claims it at the same time.</param>
    /// <exception cref="ReplicationException">The engine does not take the topic's batches.</exception>
    /// <exception cref="IOException">The journal cannot be opened or read.</exception>
    public (Partition Partition, ReplicatedLog Log) OpenReplicated(
        Topic topic,
        uint index,
        long firstOffset,
        Func<string, bool> yields
    )
    {
        ReplicationOptions replication = broker().Replication!;
        replication.Demand(topic.Settings.MaxBatchBytes);
        Partition partition = NewDurable(topic, index);
        Journal journal = OpenCopy(partition, firstOffset);
        Label(topic);
        var log = new ReplicatedLog(
            replication.Engine.GetStream(replication.StreamOf(topic.Id, index)),
            journal,
            new PartitionState(partition, catalog),
            new ReplicatedLogOptions
            {
                RingBytes = (int)topic.Settings.RingBytes,
                MaxBatchBytes = partition.MaxBatchBytes,
                MaxEntryBytes = replication.Engine.MaxEntryBytes,
                YieldsTo = yields,
                LongestClaim = replication.Members.LongestClaim,
                MarkPath = $"{journal.Options.Directory}.mark",
                WrongMark = mark => replication.Events?.OnWrongMark(partition, mark.Sequence),
            },
            partition.AppendLock,
            time,
            () => Announce(partition)
        );
        partition.Log = log;
        partition.Positions!.StoreWith(log.RequestPositions);
        journal.Listener = new CopyListener(partition, log, broker().StorageEvents, LocalChanged);
        try
        {
            DedupSwitch.Begin(partition);
        }
        catch (IOException)
        {
            log.DisposeAsync().AsTask().GetAwaiter().GetResult();
            throw;
        }
        return (partition, log);
    }

    /// <summary>
    /// Opens a partition of a topic with replicas that is not served, and a journal beside the broker's own: to read
    /// the partition's stream into.
    /// </summary>
    /// <exception cref="IOException">The journal cannot be made.</exception>
    public (Partition Partition, Journal Journal, PartitionState State) OpenAside(
        Topic topic,
        uint index,
        string directory,
        long firstOffset
    )
    {
        Partition partition = NewDurable(topic, index);
        Journal journal = Journal.Open(
            OptionsOf(partition) with
            {
                Directory = directory,
                FirstOffset = firstOffset,
                ReadLevel = Durability.Written,
                Flush = Durability.Written,
                RetentionBytes = null,
                RetentionAge = null,
                KeepFrom = null,
                SettledBefore = null,
            },
            environment
        );
        return (partition, journal, new PartitionState(partition, catalog));
    }

    /// <summary>Says in a topic's directory which topic it is of, where the catalog is not beside it.</summary>
    private void Label(Topic topic)
    {
        if (broker().Replication is not null)
            new TopicLabel(topic.Name, topic.Settings.Replicas).Write(DirectoryOf(topic.Id));
    }

    /// <summary>
    /// Whether the partition has replicas and is not claimed: its delays and groups are not known, which may need what
    /// is old.
    /// </summary>
    private static bool IsStateUnknown(Partition partition) =>
        partition.Positions is not null && partition.Log is not ReplicatedLog { IsOwner: true };

    private static void Announce(Partition partition)
    {
        using (Scheduling.TurnScope.Enter())
            partition.OnProgress();
    }

    private Partition NewDurable(Topic topic, uint index) =>
        new(topic, index, time, p => new DelayedDelivery(p, delays, broker, refusals))
        {
            Positions = topic.Settings.IsReplicated ? new StreamPositions() : null,
            OwnerOf = id => catalog.OwnerOf(topic.Id, id),
        };

    private Partition OpenOne(Topic topic, uint index, bool isNew, Func<Guid, ulong, uint, bool> isProducer)
    {
        Partition partition =
            topic.Settings.Kind == TopicKind.Durable ? NewDurable(topic, index) : new Partition(topic, index, time);
        partition.Log =
            topic.Settings.Kind == TopicKind.Durable
                ? new JournalLog(OpenJournal(partition, isNew, isProducer))
                : new RingLog(
                    (int)topic.Settings.RingBytes,
                    partition.MaxBatchBytes,
                    NewIncarnation(),
                    partition.AppendLock
                );
        DedupSwitch.Begin(partition);
        return partition;
    }

    /// <summary>Where a topic's partitions are: by id, never by name.</summary>
    public string DirectoryOf(Guid topicId) => Path.Combine(topicsDirectory, topicId.ToString("N"));

    private ulong NewIncarnation() => (ulong)UnixMicroseconds.From(time.GetUtcNow());

    private Journal OpenJournal(Partition partition, bool isNew, Func<Guid, ulong, uint, bool> isProducer)
    {
        TopicSettings settings = partition.Topic.Settings;
        JournalOptions options = OptionsOf(partition) with
        {
            MustExist = !isNew,
            ReadLevel = settings.ReadLevel,
            ProducerSnapshot = partition.SaveState,
            KnownBelow =
                !isNew && KnownOffsets.Counts(settings)
                    ? epoch => known.Below(partition.Topic.Id, (int)partition.Index, epoch)
                    : null,
        };
        var recovery = new Recovery(partition, (id, epoch) => isProducer(partition.Topic.Id, id, epoch));
        Journal journal = Journal.Open(options, environment, recovery, new Listener(partition, broker().StorageEvents));
        foreach (string what in journal.Rebuilt)
            broker().StorageEvents?.OnRebuilt($"of topic {partition.Topic.Name}, partition {partition.Index}, {what}");
        journal.NotifyWritten = settings.ReadLevel == Durability.Written;
        Label(partition.Topic);
        return journal;
    }

    /// <summary>
    /// The journal of what is committed elsewhere: written and synced in the background, since an unclean end costs a
    /// node no more than reading the stream's end again. It says nothing of producers: they may be ahead of it.
    /// </summary>
    private Journal OpenCopy(Partition partition, long firstOffset)
    {
        Journal journal = Journal.Open(
            OptionsOf(partition) with
            {
                FirstOffset = firstOffset,
                ReadLevel = Durability.Written,
                Flush = Durability.Written,
            },
            environment
        );
        journal.NotifyWritten = true;
        return journal;
    }

    private JournalOptions OptionsOf(Partition partition)
    {
        Topic topic = partition.Topic;
        TopicSettings settings = topic.Settings;
        return new JournalOptions
        {
            Directory = Path.Combine(
                DirectoryOf(topic.Id),
                partition.Index.ToString(System.Globalization.CultureInfo.InvariantCulture)
            ),
            TopicId = topic.Id,
            // Every topic gets a new id, so the id tells apart topics that had the same name.
            Incarnation = BitConverter.ToUInt64(topic.Id.ToByteArray()),
            RingBytes = (int)settings.RingBytes,
            SegmentBytes = (int)settings.SegmentBytes,
            MaxBatchBytes = partition.MaxBatchBytes,
            RetentionBytes = settings.RetentionBytes == 0 ? null : settings.RetentionBytes,
            RetentionAge = settings.RetentionAge == TimeSpan.Zero ? null : settings.RetentionAge,
            KeepFrom = (removable, bytes) =>
                IsStateUnknown(partition) ? 0 : partition.Delays?.KeepFrom(removable, bytes) ?? long.MaxValue,
            SettledBefore = () => IsStateUnknown(partition) ? 0 : settledBefore(partition),
        };
    }

    private class Listener(Partition partition, IStorageEvents? events) : IJournalListener
    {
        /// <summary>A journal writer serves many topics: it sends a few turns itself, the pool the rest.</summary>
        private const int WriterTurns = 4;

        protected Partition Partition { get; } = partition;

        protected IStorageEvents? Events { get; } = events;

        public virtual void OnProgress(Journal journal)
        {
            using (Scheduling.TurnScope.Enter(WriterTurns))
                Partition.OnProgress();
        }

        public virtual void OnFailed(Journal journal)
        {
            Events?.OnTopicFailed(Partition, journal.Failure!);
            Partition.OnFailed(journal.Failure!.Reason);
        }

        public virtual void OnDiskFull(Journal journal) => Events?.OnDiskFull(Partition, journal.DiskFull);

        public virtual void OnRested(Journal journal)
        {
            lock (Partition.AppendLock)
                journal.TryReleaseMemory();
        }

        public void OnDamaged(Journal journal, JournalDamage damage) => Events?.OnDamaged(Partition, damage);

        public void OnRefused(Journal journal, string file, Exception error) =>
            Events?.OnRefused(
                $"the file {file} of the topic {Partition.Topic.Name}, partition {Partition.Index}, which it can do "
                    + "without",
                error
            );
    }

    private sealed class CopyListener(
        Partition partition,
        ReplicatedLog log,
        IStorageEvents? events,
        Action? localChanged
    ) : Listener(partition, events)
    {
        /// <summary>Another node can serve it: producers are not told that the topic has failed.</summary>
        public override void OnFailed(Journal journal)
        {
            Events?.OnTopicFailed(Partition, journal.Failure!);
            log.OnLocalFailed(journal.Failure!.Reason);
        }

        public override void OnDiskFull(Journal journal)
        {
            base.OnDiskFull(journal);
            localChanged?.Invoke();
        }

        public override void OnProgress(Journal journal)
        {
            log.Copy.OnProgress();
            base.OnProgress(journal);
        }

        public override void OnRested(Journal journal) => log.Copy.TryReleaseMemory();
    }

    private sealed class Recovery(Partition partition, Func<ulong, uint, bool> isProducer) : IRecoveredBatchVisitor
    {
        public void OnSnapshot(ReadOnlySpan<byte> snapshot) => partition.LoadState(snapshot, TableOf);

        public void OnBatch(in BatchView header) => partition.OnRecovered(header, TableOf);

        private ProducerTable? TableOf(ulong id, uint epoch) => isProducer(id, epoch) ? partition.NamedProducers : null;
    }
}
