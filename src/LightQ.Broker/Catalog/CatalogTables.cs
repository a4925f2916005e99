using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;
using LightQ.Broker.Users;

namespace LightQ.Broker.Catalog;

/// <summary>What the records of a catalog add up to.</summary>
/// <remarks>Every member but <see cref="Users"/> and <see cref="News"/> is used under <see cref="Lock"/>.</remarks>
internal sealed class CatalogTables
{
    /// <summary>Owners in one record: it is some 50 KB then, and any engine takes 1 MiB.</summary>
    public const int OwnersOfRecord = 500;

    private readonly Dictionary<Guid, CatalogRecord.TopicEntry> _topics = [];
    private readonly Dictionary<string, Guid> _topicIds = new(StringComparer.Ordinal);
    private readonly Dictionary<(Guid Topic, ulong Id), CatalogRecord.ProducerEntry> _producers = [];
    private readonly Dictionary<(Guid Topic, uint Owner, string Name), ulong> _producerIds = [];
    private readonly Dictionary<(Guid Topic, string Name), SortedSet<ulong>> _ownedIds = [];
    private readonly Dictionary<(Guid Topic, ulong Id), uint> _lastEpochs = [];
    private readonly Dictionary<(Guid Topic, uint Partition), CatalogRecord.OwnerEntry> _owners = [];
    private readonly Dictionary<Guid, int> _names = [];
    private readonly Dictionary<(Guid Topic, uint User), int> _namesOfUsers = [];
    private volatile UserTable _users = UserTable.Empty;

    /// <summary>Held while they are changed, or read more than once.</summary>
    public Lock Lock { get; } = new();

    /// <summary>The cluster that the catalog is of; null for a broker's own.</summary>
    public CatalogRecord.ClusterEntry? Cluster { get; private set; }

    /// <summary>The topics, in no order.</summary>
    public IReadOnlyCollection<CatalogRecord.TopicEntry> Topics => _topics.Values;

    /// <summary>The named producers, in no order.</summary>
    public IReadOnlyCollection<CatalogRecord.ProducerEntry> Producers => _producers.Values;

    /// <summary>The users and tokens.</summary>
    public UserTable Users => _users;

    /// <summary>The highest count that the id of a named producer has had.</summary>
    public uint LastProducerCount { get; private set; }

    /// <summary>Whether <see cref="News"/> are wanted.</summary>
    public bool HasListener { get; set; }

    /// <summary>What was changed since a listener looked last, in order.</summary>
    public ConcurrentQueue<CatalogNews> News { get; } = new();

    public CatalogRecord.TopicEntry? FindTopic(Guid id) => _topics.GetValueOrDefault(id);

    public bool TryFindTopic(string name, [NotNullWhen(true)] out CatalogRecord.TopicEntry? topic)
    {
        topic = _topicIds.TryGetValue(name, out Guid id) ? _topics[id] : null;
        return topic is not null;
    }

    /// <summary>Finds the named producer of a user.</summary>
    /// <param name="topic">The topic.</param>
    /// <param name="owner">The <see cref="UserNumber"/>; that of nobody for names that are nobody's.</param>
    /// <param name="name">The name.</param>
    public CatalogRecord.ProducerEntry? FindProducer(Guid topic, uint owner, string name) =>
        _producerIds.TryGetValue((topic, owner, name), out ulong id) ? _producers[(topic, id)] : null;

    /// <summary>Finds a named producer by its id.</summary>
    public CatalogRecord.ProducerEntry? FindProducer(Guid topic, ulong id) => _producers.GetValueOrDefault((topic, id));

    /// <summary>The named producers of a name that are users', oldest first.</summary>
    public IEnumerable<CatalogRecord.ProducerEntry> FindOwned(Guid topic, string name) =>
        _ownedIds.TryGetValue((topic, name), out SortedSet<ulong>? ids)
            ? ids.OrderBy(CatalogRecord.ProducerEntry.CountOf).Select(id => _producers[(topic, id)])
            : [];

    /// <summary>The <see cref="UserNumber"/> of whose named producer an id is, also when it is forgotten.</summary>
    public uint OwnerOf(Guid topic, ulong id) =>
        FindProducer(topic, id)?.OwnerNumber ?? CatalogRecord.ProducerEntry.UserOf(id);

    /// <summary>The newest owner of a partition that was noted; null for none.</summary>
    public CatalogRecord.OwnerEntry? FindOwner(Guid topic, uint partition) =>
        _owners.GetValueOrDefault((topic, partition));

    /// <summary>How many named producers a topic has.</summary>
    public int CountProducers(Guid topic) => _names.GetValueOrDefault(topic);

    /// <summary>How many of them one user has made.</summary>
    public int CountProducers(Guid topic, uint user) => _namesOfUsers.GetValueOrDefault((topic, user));

    /// <summary>
    /// The last epoch of a producer that this node gave out, of those that it has noted; null for none.
    /// </summary>
    public uint? LastEpochOf(Guid topic, ulong id) =>
        _lastEpochs.TryGetValue((topic, id), out uint epoch) ? epoch : null;

    public void SetLastEpoch(Guid topic, ulong id, uint epoch) => _lastEpochs[(topic, id)] = epoch;

    /// <summary>The records of a catalog that holds what these do, and nothing else.</summary>
    public IEnumerable<CatalogRecord> Live() =>
        (Cluster is null ? [] : new[] { new CatalogRecord { Cluster = Cluster } })
            .Concat(_topics.Values.Select(t => new CatalogRecord { Topic = t }))
            .Concat(_producers.Values.Select(p => new CatalogRecord { Producer = p }))
            .Concat(_owners.Values.Chunk(OwnersOfRecord).Select(o => new CatalogRecord { Owners = o }))
            .Concat(_users.Users.Values.Select(u => new CatalogRecord { User = u }))
            .Concat(_users.Tokens.Values.Select(t => new CatalogRecord { Token = t }))
            .Concat(_users.Admin is null ? [] : [new CatalogRecord { Admin = _users.Admin }])
            .Concat(_users.EndedLogins.Values.Select(l => new CatalogRecord { EndedLogin = l }));

    /// <summary>Makes a record count.</summary>
    /// <param name="record">The record.</param>
    /// <param name="isLocal">Whether a caller on this node has made it.</param>
    public void Apply(CatalogRecord record, bool isLocal)
    {
        Guid? changed = null;
        bool changesRights = false;
        if (record.Topic is { } topic)
        {
            changed = topic.Id;
            changesRights = _topics.GetValueOrDefault(topic.Id)?.Credentials != topic.Credentials;
            _topics[topic.Id] = topic;
            _topicIds[topic.Name] = topic.Id;
        }
        if (record.DeletedTopic is { } deleted)
        {
            changed = deleted;
            changesRights = _topics.GetValueOrDefault(deleted)?.Credentials is not null;
            Forget(deleted);
        }
        if (record.Producer is { } producer)
        {
            Keep(producer);
            LastProducerCount = Math.Max(LastProducerCount, CatalogRecord.ProducerEntry.CountOf(producer.Id));
        }
        if (record.ForgottenProducers is { } forgotten)
            ForgetProducers(forgotten.TopicId, forgotten.Ids.ToHashSet().Contains);
        foreach (CatalogRecord.OwnerEntry owner in record.Owners ?? [])
        {
            if (_topics.ContainsKey(owner.TopicId) && owner.IsNewerThan(FindOwner(owner.TopicId, owner.Partition)))
                _owners[(owner.TopicId, owner.Partition)] = owner;
        }
        if (record.Cluster is { } cluster)
            Cluster = cluster;
        UserTable users = record.ApplyTo(_users);
        changesRights |= users != _users;
        _users = users;
        Tell(changed, changesRights, isLocal);
    }

    /// <summary>Takes over what others hold: records in between are gone.</summary>
    public void Become(CatalogTables other)
    {
        Guid[] topics = [.. _topics.Keys.Union(other._topics.Keys)];
        Replace(_topics, other._topics);
        Replace(_topicIds, other._topicIds);
        Replace(_producers, other._producers);
        Replace(_producerIds, other._producerIds);
        Replace(_ownedIds, other._ownedIds);
        Replace(_names, other._names);
        Replace(_namesOfUsers, other._namesOfUsers);
        Replace(_owners, other._owners);
        _lastEpochs.Clear();
        LastProducerCount = Math.Max(LastProducerCount, other.LastProducerCount);
        Cluster = other.Cluster;
        _users = other._users;
        foreach (Guid topic in topics)
            Tell(topic, changesRights: false, isLocal: false);
        Tell(topic: null, changesRights: true, isLocal: false);
    }

    /// <summary>Forgets named producers of a topic by their ids.</summary>
    public void ForgetProducers(Guid topic, Func<ulong, bool> which)
    {
        foreach (
            CatalogRecord.ProducerEntry entry in _producers
                .Values.Where(p => p.TopicId == topic && which(p.Id))
                .ToArray()
        )
        {
            Forget(entry);
        }
    }

    private static void Replace<TKey, TValue>(Dictionary<TKey, TValue> own, Dictionary<TKey, TValue> others)
        where TKey : notnull
    {
        own.Clear();
        foreach ((TKey key, TValue value) in others)
            own[key] = value;
    }

    private void Tell(Guid? topic, bool changesRights, bool isLocal)
    {
        if (HasListener && (topic is not null || changesRights))
            News.Enqueue(new CatalogNews(topic, changesRights, isLocal));
    }

    private void Forget(Guid id)
    {
        if (
            _topics.Remove(id, out CatalogRecord.TopicEntry? gone)
            && _topicIds.TryGetValue(gone.Name, out Guid named)
            && named == id
        )
        {
            _topicIds.Remove(gone.Name);
        }
        ForgetProducers(id, static _ => true);
        foreach ((Guid, uint) key in _owners.Keys.Where(key => key.Topic == id).ToArray())
            _owners.Remove(key);
    }

    private void Keep(CatalogRecord.ProducerEntry entry)
    {
        // It has another owner now; or its name was forgotten, which a file does not say, and is another's since.
        if (FindProducer(entry.TopicId, entry.Id) is { } before && before.OwnerNumber != entry.OwnerNumber)
            Forget(before);
        if (FindProducer(entry.TopicId, entry.OwnerNumber, entry.Name) is { } other && other.Id != entry.Id)
            Forget(other);
        if (_producerIds.TryAdd((entry.TopicId, entry.OwnerNumber, entry.Name), entry.Id))
            Count(entry, 1);
        _producers[(entry.TopicId, entry.Id)] = entry;
        // Whoever noted it has the epochs up to it. This node goes on behind them, or says itself where.
        _lastEpochs.Remove((entry.TopicId, entry.Id));
    }

    private void Forget(CatalogRecord.ProducerEntry entry)
    {
        _producers.Remove((entry.TopicId, entry.Id));
        _producerIds.Remove((entry.TopicId, entry.OwnerNumber, entry.Name));
        _lastEpochs.Remove((entry.TopicId, entry.Id));
        Count(entry, -1);
    }

    private void Count(CatalogRecord.ProducerEntry entry, int change)
    {
        Add(_names, entry.TopicId, change);
        Add(_namesOfUsers, (entry.TopicId, CatalogRecord.ProducerEntry.UserOf(entry.Id)), change);
        if (entry.Owner is null)
            return;
        (Guid, string) key = (entry.TopicId, entry.Name);
        if (!_ownedIds.TryGetValue(key, out SortedSet<ulong>? ids))
            _ownedIds.Add(key, ids = []);
        if (change > 0)
            ids.Add(entry.Id);
        else if (ids.Remove(entry.Id) && ids.Count == 0)
            _ownedIds.Remove(key);
    }

    private static void Add<TKey>(Dictionary<TKey, int> counts, TKey key, int change)
        where TKey : notnull
    {
        int count = counts.GetValueOrDefault(key) + change;
        if (count == 0)
            counts.Remove(key);
        else
            counts[key] = count;
    }
}
