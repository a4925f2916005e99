using LightQ.Broker.Topics;
using LightQ.Broker.Users;
using LightQ.Protocol;
using LightQ.Protocol.Frames;
using LightQ.Storage;
using LightQ.Storage.State;

namespace LightQ.Broker.Catalog;

/// <summary>What survives a restart besides messages: topics, named producers, users and tokens. A small journal, replayed at start.</summary>
/// <remarks>Every change is on disk before the call returns. Thread-safe; calls block on the disk.</remarks>
internal sealed class TopicCatalog : IDisposable
{
    /// <summary>The journal is written anew when it is this large, and later whenever it has doubled since: by then half of it is history.</summary>
    private const long CompactBytes = 4 * 1024 * 1024;

    /// <summary>Where it is in the data directory.</summary>
    public const string DirectoryName = "catalog";

    /// <summary>Epochs of a name that are noted ahead: so many partitions can be opened for one sync.</summary>
    private const uint EpochsNoted = 64;

    private readonly Lock _lock = new();
    private readonly Dictionary<Guid, CatalogRecord.TopicEntry> _topics = [];
    private readonly Dictionary<(Guid Topic, string Name), CatalogRecord.ProducerEntry> _producers = [];
    private readonly Dictionary<(Guid Topic, string Name), uint> _lastEpochs = [];
    private readonly Dictionary<Guid, int> _names = [];
    private readonly RecordJournal _journal;
    private volatile UserTable _users = UserTable.Empty;
    private ulong _lastProducerId;
    private long _compactAt;

    public TopicCatalog(string directory, JournalEnvironment environment, long compactBytes = CompactBytes)
    {
        _compactAt = compactBytes;
        _journal = RecordJournal.Open(directory, environment, Replay);
        CompactIfLong();
    }

    /// <summary>Refuses a data directory that a broker has worked in and whose catalog is gone: it would be taken for a new one, without topics, users and rights.</summary>
    /// <exception cref="DataDirectoryException">It is.</exception>
    public static void ThrowIfGone(string dataDirectory)
    {
        string catalog = Path.Combine(dataDirectory, DirectoryName);
        if (CatalogReader.IsGone(dataDirectory))
            throw new DataDirectoryException(dataDirectory, $"There are topics or groups in '{dataDirectory}', and no file in '{catalog}', which knows their names, settings, users and rights: put it back, or restore a backup into another directory.", new FileNotFoundException(catalog));
    }

    /// <summary>Bytes of the journal.</summary>
    internal long Bytes => _journal.Bytes;

    /// <summary>The topics, in no order.</summary>
    public IReadOnlyCollection<CatalogRecord.TopicEntry> Topics
    {
        get
        {
            lock (_lock)
                return [.. _topics.Values];
        }
    }

    /// <summary>The users and tokens.</summary>
    public UserTable Users => _users;

    /// <summary>Keeps a topic, new or changed.</summary>
    public void Put(Topic topic)
    {
        CatalogRecord.CredentialsEntry? credentials = topic.Credentials is { } own ? new(own.User, own.Password) : null;
        var entry = new CatalogRecord.TopicEntry(topic.Name, topic.Id, topic.Created, topic.Settings, credentials);
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

    /// <summary>
    /// Gives a named producer its id and the next epoch. The id and who has the name are on disk when this returns, and that no later start gives this epoch again.
    /// </summary>
    /// <param name="topic">The topic.</param>
    /// <param name="name">The producer's name.</param>
    /// <param name="instance">Which one of the name it is; see <see cref="OpenProducerFrame.Instance"/>.</param>
    /// <param name="isReturning">Whether it must have the name already: then it does not take it from another.</param>
    /// <exception cref="BrokerException">Another has taken the name over: <see cref="ErrorCode.Fenced"/>.</exception>
    public (ulong Id, uint Epoch) NextEpoch(Guid topic, string name, ulong instance, bool isReturning)
    {
        lock (_lock)
        {
            CatalogRecord.ProducerEntry? known = _producers.GetValueOrDefault((topic, name));
            if (isReturning && known?.Instance is { } holder && holder != instance)
                throw new BrokerException(ErrorCode.Fenced, $"A newer producer has taken over the name '{name}'.");
            CatalogRecord.ProducerEntry entry = known ?? new CatalogRecord.ProducerEntry(topic, name, ++_lastProducerId, 0);
            uint epoch = _lastEpochs.GetValueOrDefault((topic, name), entry.Epoch) + 1;
            entry = entry with { Epoch = epoch > entry.Epoch ? entry.Epoch + EpochsNoted : entry.Epoch, Instance = instance };
            if (entry != known)
            {
                Append(new CatalogRecord { Producer = entry });
                Keep(entry);
            }
            _lastEpochs[(topic, name)] = epoch;
            return (entry.Id, epoch);
        }
    }

    /// <summary>The named producers by their ids.</summary>
    public IReadOnlyDictionary<ulong, CatalogRecord.ProducerEntry> ProducersById()
    {
        lock (_lock)
        {
            var producers = new Dictionary<ulong, CatalogRecord.ProducerEntry>(_producers.Count);
            foreach (CatalogRecord.ProducerEntry entry in _producers.Values)
                producers[entry.Id] = entry;
            return producers;
        }
    }

    /// <summary>Whether a topic has the named producer, or room for it.</summary>
    public bool HasRoom(Guid topic, string name, int mostNames)
    {
        lock (_lock)
            return _names.GetValueOrDefault(topic) < mostNames || _producers.ContainsKey((topic, name));
    }

    /// <summary>Forgets the named producers of a topic but some. One that comes back after that is a new one.</summary>
    /// <remarks>No record says so: a name that a start brings back is one that is forgotten again when there is no room, and the next compaction leaves it out.</remarks>
    public void ForgetProducers(Guid topic, IReadOnlySet<ulong> but)
    {
        lock (_lock)
        {
            foreach (CatalogRecord.ProducerEntry entry in _producers.Values.Where(p => p.TopicId == topic && !but.Contains(p.Id)).ToArray())
                Forget(entry);
        }
    }

    /// <summary>Keeps a user, new or changed.</summary>
    public void Put(User user) => Change(new CatalogRecord { User = user });

    /// <summary>Forgets a user and its tokens.</summary>
    public void DeleteUser(string name) => Change(new CatalogRecord { DeletedUser = name });

    /// <summary>Keeps a token.</summary>
    public void Put(AccessToken token) => Change(new CatalogRecord { Token = token });

    /// <summary>Forgets a token.</summary>
    public void DeleteToken(string id) => Change(new CatalogRecord { DeletedToken = id });

    /// <summary>What it holds now, as the records of a catalog that holds nothing else.</summary>
    /// <param name="durableTopics">The durable topics that count; of others, it says nothing.</param>
    public IReadOnlyList<CatalogRecord> Capture(IReadOnlySet<Guid> durableTopics)
    {
        bool IsKept(Guid id) => _topics.TryGetValue(id, out CatalogRecord.TopicEntry? topic) && (topic.Settings.Kind == TopicKind.Transient || durableTopics.Contains(id));
        lock (_lock)
            return [.. Live().Where(r => (r.Topic is null || IsKept(r.Topic.Id)) && (r.Producer is null || IsKept(r.Producer.TopicId)))];
    }

    public void Dispose() => _journal.Dispose();

    private IEnumerable<CatalogRecord> Live() =>
        _topics.Values.Select(t => new CatalogRecord { Topic = t })
            .Concat(_producers.Values.Select(p => new CatalogRecord { Producer = p }))
            .Concat(_users.Users.Values.Select(u => new CatalogRecord { User = u }))
            .Concat(_users.Tokens.Values.Select(t => new CatalogRecord { Token = t }));

    private void Append(CatalogRecord record)
    {
        CompactIfLong(); // Before: what this record says does not count yet.
        _journal.Append(record.Write());
    }

    private void CompactIfLong()
    {
        if (_journal.Bytes <= _compactAt)
            return;
        _ = _journal.TryCompact(Live().Select(r => (ReadOnlyMemory<byte>)r.Write())); // On a full disk a topic can be deleted to make space.
        _compactAt = Math.Max(_compactAt, 2 * _journal.Bytes);
    }

    private void Change(CatalogRecord record)
    {
        lock (_lock)
        {
            Append(record);
            ApplyToUsers(record);
        }
    }

    private void ApplyToUsers(CatalogRecord record)
    {
        UserTable table = _users;
        if (record.User is { } user)
            table = table with { Users = table.Users.SetItem(user.Name, user) };
        if (record.DeletedUser is { } name)
            table = new UserTable(table.Users.Remove(name), table.Tokens.RemoveRange(table.Tokens.Values.Where(t => t.User == name).Select(t => t.Hash)));
        if (record.Token is { } token)
            table = table with { Tokens = table.Tokens.SetItem(token.Hash, token) };
        if (record.DeletedToken is { } id)
            table = table with { Tokens = table.Tokens.RemoveRange(table.Tokens.Values.Where(t => t.Id == id).Select(t => t.Hash)) };
        _users = table;
    }

    private void Replay(ReadOnlySpan<byte> bytes)
    {
        var record = CatalogRecord.Read(bytes);
        if (record.Topic is { } topic)
            _topics[topic.Id] = topic;
        if (record.DeletedTopic is { } deleted)
            Forget(deleted);
        if (record.Producer is { } producer)
        {
            Keep(producer);
            _lastProducerId = Math.Max(_lastProducerId, producer.Id);
        }
        ApplyToUsers(record);
    }

    private void Forget(Guid id)
    {
        _topics.Remove(id);
        foreach (CatalogRecord.ProducerEntry entry in _producers.Values.Where(p => p.TopicId == id).ToArray())
            Forget(entry);
        _names.Remove(id);
    }

    private void Keep(CatalogRecord.ProducerEntry entry)
    {
        if (!_producers.ContainsKey((entry.TopicId, entry.Name)))
            _names[entry.TopicId] = _names.GetValueOrDefault(entry.TopicId) + 1;
        _producers[(entry.TopicId, entry.Name)] = entry;
    }

    private void Forget(CatalogRecord.ProducerEntry entry)
    {
        _producers.Remove((entry.TopicId, entry.Name));
        _lastEpochs.Remove((entry.TopicId, entry.Name));
        _names[entry.TopicId]--;
    }
}
