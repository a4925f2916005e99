using System.Text.Json;
using LightQ.Broker.Topics;
using LightQ.Storage;
using LightQ.Storage.State;

namespace LightQ.Broker.Catalog;

/// <summary>What survives a restart besides messages: the topics and the named producers. A small journal, replayed at start.</summary>
/// <remarks>Every change is on disk before the call returns. Thread-safe; calls block on the disk.</remarks>
internal sealed class TopicCatalog : IDisposable
{
    /// <summary>The journal is written anew at start when it is this large and mostly history.</summary>
    private const long CompactBytes = 4 * 1024 * 1024;

    /// <summary>Epochs of a name that are noted ahead: so many partitions can be opened for one sync.</summary>
    private const uint EpochsNoted = 64;

    private readonly Lock _lock = new();
    private readonly Dictionary<Guid, CatalogRecord.TopicEntry> _topics = [];
    private readonly Dictionary<(Guid Topic, string Name), CatalogRecord.ProducerEntry> _producers = [];
    private readonly Dictionary<(Guid Topic, string Name), uint> _lastEpochs = [];
    private readonly RecordJournal _journal;
    private ulong _lastProducerId;

    public TopicCatalog(string directory, JournalEnvironment environment)
    {
        _journal = RecordJournal.Open(directory, environment, Replay);
        if (_journal.Bytes > CompactBytes)
            _journal.Compact(Live().Select(r => (ReadOnlyMemory<byte>)Serialize(r)));
    }

    /// <summary>The topics, in no order.</summary>
    public IReadOnlyCollection<CatalogRecord.TopicEntry> Topics
    {
        get
        {
            lock (_lock)
                return [.. _topics.Values];
        }
    }

    /// <summary>Keeps a topic, new or changed.</summary>
    public void Put(Topic topic)
    {
        var entry = new CatalogRecord.TopicEntry(topic.Name, topic.Id, topic.Created, topic.Settings, topic.Credentials);
        lock (_lock)
        {
            Append(new CatalogRecord { Topic = entry });
            _topics[topic.Id] = entry;
        }
    }

    /// <summary>Forgets a topic and its producers.</summary>
    public void Delete(Guid id)
    {
        lock (_lock)
        {
            Append(new CatalogRecord { DeletedTopic = id });
            Forget(id);
        }
    }

    /// <summary>Gives a named producer its id and the next epoch. The id is on disk when this returns, and that no later start gives this epoch again.</summary>
    public (ulong Id, uint Epoch) NextEpoch(Guid topic, string name)
    {
        lock (_lock)
        {
            CatalogRecord.ProducerEntry entry = _producers.TryGetValue((topic, name), out CatalogRecord.ProducerEntry? known)
                ? known
                : new CatalogRecord.ProducerEntry(topic, name, ++_lastProducerId, 0);
            uint epoch = _lastEpochs.GetValueOrDefault((topic, name), entry.Epoch) + 1;
            if (epoch > entry.Epoch)
            {
                entry = entry with { Epoch = entry.Epoch + EpochsNoted };
                Append(new CatalogRecord { Producer = entry });
                _producers[(topic, name)] = entry;
            }
            _lastEpochs[(topic, name)] = epoch;
            return (entry.Id, epoch);
        }
    }

    public void Dispose() => _journal.Dispose();

    private IEnumerable<CatalogRecord> Live() =>
        _topics.Values.Select(t => new CatalogRecord { Topic = t }).Concat(_producers.Values.Select(p => new CatalogRecord { Producer = p }));

    private void Append(CatalogRecord record) => _journal.Append(Serialize(record));

    private static byte[] Serialize(CatalogRecord record) => JsonSerializer.SerializeToUtf8Bytes(record, CatalogJson.Default.CatalogRecord);

    private void Replay(ReadOnlySpan<byte> bytes)
    {
        CatalogRecord record = JsonSerializer.Deserialize(bytes, CatalogJson.Default.CatalogRecord)
            ?? throw new JournalFormatException("The catalog holds an empty record.");
        if (record.Topic is { } topic)
            _topics[topic.Id] = topic;
        if (record.DeletedTopic is { } deleted)
            Forget(deleted);
        if (record.Producer is { } producer)
        {
            _producers[(producer.TopicId, producer.Name)] = producer;
            _lastProducerId = Math.Max(_lastProducerId, producer.Id);
        }
    }

    private void Forget(Guid id)
    {
        _topics.Remove(id);
        foreach ((Guid Topic, string Name) key in _producers.Keys.Where(k => k.Topic == id).ToArray())
        {
            _producers.Remove(key);
            _lastEpochs.Remove(key);
        }
    }
}
