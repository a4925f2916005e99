using LightQ.Broker.Logs;
using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Storage;

namespace LightQ.Broker.Topics;

/// <summary>Makes or recovers the log behind a partition.</summary>
internal sealed class PartitionOpener(string topicsDirectory, JournalEnvironment environment, TimeProvider time, Action<Topic, JournalDamage> onDamaged)
{
    /// <summary>Opens every partition of a topic.</summary>
    /// <param name="topic">The topic.</param>
    /// <param name="isNew">Whether it is being created. The catalog learns of a topic when its files are on the disk: one that it knows must have them.</param>
    public void Open(Topic topic, bool isNew)
    {
        var partition = new Partition(topic, 0, time);
        partition.Log = topic.Settings.Kind == TopicKind.Durable
            ? new JournalLog(OpenJournal(partition, isNew))
            : new RingLog((int)topic.Settings.RingBytes, partition.MaxBatchBytes, NewIncarnation(), partition.AppendLock);
        topic.Partitions = [partition];
    }

    /// <summary>Where a topic's partitions are: by id, never by name.</summary>
    public string DirectoryOf(Guid topicId) => Path.Combine(topicsDirectory, topicId.ToString("N"));

    private ulong NewIncarnation() => (ulong)UnixMicroseconds.From(time.GetUtcNow());

    private Journal OpenJournal(Partition partition, bool isNew)
    {
        Topic topic = partition.Topic;
        TopicSettings settings = topic.Settings;
        var options = new JournalOptions
        {
            Directory = Path.Combine(DirectoryOf(topic.Id), partition.Index.ToString(System.Globalization.CultureInfo.InvariantCulture)),
            MustExist = !isNew,
            TopicId = topic.Id,
            // The id is made anew with every topic, so it tells the lives of a name apart.
            Incarnation = BitConverter.ToUInt64(topic.Id.ToByteArray()),
            RingBytes = (int)settings.RingBytes,
            SegmentBytes = (int)settings.SegmentBytes,
            MaxBatchBytes = partition.MaxBatchBytes,
            RetentionBytes = settings.RetentionBytes == 0 ? null : settings.RetentionBytes,
            RetentionAge = settings.RetentionAge == TimeSpan.Zero ? null : settings.RetentionAge,
            ReadLevel = settings.ReadLevel,
            ProducerSnapshot = partition.NamedProducers.Save,
            Listener = new Listener(partition, onDamaged),
        };
        Journal journal = Journal.Open(options, environment, new Recovery(partition));
        journal.NotifyWritten = settings.ReadLevel == Durability.Written;
        return journal;
    }

    private sealed class Listener(Partition partition, Action<Topic, JournalDamage> onDamaged) : IJournalListener
    {
        public void OnProgress(Journal journal)
        {
            using (Scheduling.TurnScope.Enter(WriterTurns))
                partition.OnProgress();
        }

        public void OnFailed(Journal journal) => partition.OnFailed(journal.Failure?.Reason ?? "the journal has failed");

        public void OnDamaged(Journal journal, JournalDamage damage) => onDamaged(partition.Topic, damage);

        /// <summary>A journal writer serves many topics: it sends a few turns itself, the pool the rest.</summary>
        private const int WriterTurns = 4;
    }

    private sealed class Recovery(Partition partition) : IRecoveredBatchVisitor
    {
        public void OnSnapshot(ReadOnlySpan<byte> snapshot) => partition.NamedProducers.Load(snapshot);

        public void OnBatch(in BatchView header)
        {
            if (header.ProducerId != 0)
            {
                partition.NamedProducers.Open(header.ProducerId, header.ProducerEpoch)
                    .Remember(header.BaseSequence, (uint)header.RecordCount, header.BaseOffset, header.AppendTime);
            }
        }
    }
}
