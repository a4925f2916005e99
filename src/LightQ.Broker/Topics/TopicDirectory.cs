using System.Collections.Concurrent;
using System.Collections.Immutable;
using LightQ.Broker.Catalog;
using LightQ.Broker.DeadLetters;
using LightQ.Broker.Logs;
using LightQ.Broker.Users;

namespace LightQ.Broker.Topics;

/// <summary>
/// The topics that there are: what the catalog says, made true on this node. A change is stored first, and what the
/// catalog says then is carried out, whichever node has made it.
/// </summary>
/// <remarks>Thread-safe. News is carried out by one thread at a time, in order; it waits for nothing long.</remarks>
internal sealed class TopicDirectory : IAsyncDisposable
{
    private readonly TopicCatalog _catalog;
    private readonly UserStore _users;
    private readonly PartitionOpener _opener;
    private readonly Replicas _replicas;
    private readonly TopicRemover _remover;
    private readonly TimeProvider _time;
    private readonly Action<Partition> _keepHouse;
    private readonly Func<IStorageEvents?> _events;
    private readonly string? _node;
    private readonly ConcurrentDictionary<string, Topic> _topics = new(StringComparer.Ordinal);
    private readonly Dictionary<Guid, Topic> _byId = [];
    private readonly ConcurrentDictionary<Guid, Topic> _making = new();
    private readonly ConcurrentDictionary<Guid, Task> _ending = new();
    private readonly Lock _carryingOut = new();
    private readonly LetterOwners _letterOwners = new();
    private ulong _sequence;

    /// <param name="catalog">What there is to be.</param>
    /// <param name="users">Hears of rights that other nodes have changed.</param>
    /// <param name="opener">Opens the partitions that are on this node's disk alone.</param>
    /// <param name="replicas">Keeps those with replicas.</param>
    /// <param name="remover">Ends topics.</param>
    /// <param name="options">The settings.</param>
    /// <param name="keepHouse">Begins the housekeeping of a partition.</param>
    /// <param name="time">The clock.</param>
    public TopicDirectory(
        TopicCatalog catalog,
        UserStore users,
        PartitionOpener opener,
        Replicas replicas,
        TopicRemover remover,
        Func<BrokerOptions> options,
        Action<Partition> keepHouse,
        TimeProvider time
    )
    {
        _catalog = catalog;
        _users = users;
        _opener = opener;
        _replicas = replicas;
        _remover = remover;
        _keepHouse = keepHouse;
        _time = time;
        _events = () => options().StorageEvents;
        _node = options().Replication?.Node;
        catalog.Applied += CarryOut;
    }

    /// <summary>The topics by their names.</summary>
    public ConcurrentDictionary<string, Topic> Topics => _topics;

    /// <summary>Which topics keep the letters of others, by their settings.</summary>
    public LetterOwners LetterOwners => _letterOwners;

    /// <summary>The last change of the catalog that is carried out; only grows.</summary>
    public ulong Sequence => Volatile.Read(ref _sequence);

    /// <summary>Opens the topics that the catalog has at a start.</summary>
    public void Recover()
    {
        (CatalogRecord.TopicEntry Entry, Topic Topic)[] all = [.. _catalog.Topics.Select(e => (e, Make(e)))];
        _opener.Recover([.. all.Where(t => IsHere(t.Entry)).Select(t => t.Topic)], _catalog.ProducerCheck());
        foreach ((CatalogRecord.TopicEntry entry, Topic topic) in all)
        {
            Place(topic, entry);
            Serve(topic);
            _letterOwners.Change(topic.Name, null, topic.Settings);
        }
        Volatile.Write(ref _sequence, _catalog.Sequence); // Nothing is followed yet.
    }

    /// <summary>Creates a topic; one with replicas is owned when this returns, if that does not take long.</summary>
    /// <param name="topic">The topic, with complete settings.</param>
    /// <exception cref="BrokerException">The name is taken, or the topic cannot be made or is not stored.</exception>
    public void Create(Topic topic)
    {
        if (topic.Settings.IsReplicated)
            _replicas.Create(topic);
        else
            _opener.Create(topic);
        _making[topic.Id] = topic;
        try
        {
            _catalog.Create(EntryOf(topic));
        }
        catch (UnstoredException e) when (e.Outcome is { } outcome)
        {
            _ = RemoveUnlessStoredAsync(topic, outcome);
            throw;
        }
        catch (Exception e) when (e is BrokerException or OperationCanceledException)
        {
            // It is refused, or nobody waits for it any more.
            _making.TryRemove(topic.Id, out _);
            _remover.RemoveAsync(topic).GetAwaiter().GetResult();
            throw;
        }
        if (topic.Settings.IsReplicated)
            _replicas.WaitUntilOwned(topic);
    }

    /// <summary>Deletes a topic; completes when its streams have ended and it is removed.</summary>
    /// <param name="name">Its name.</param>
    /// <param name="change">Makes the change of the catalog.</param>
    /// <exception cref="BrokerException">There is none.</exception>
    /// <exception cref="UnstoredException">The deletion is not stored; it may count all the same.</exception>
    public async Task DeleteAsync(string name, Func<Func<UnstoredException?>, ValueTask<UnstoredException?>> change)
    {
        Guid id = Guid.Empty;
        UnstoredException? unstored = await change(() => UnstoredException.Of(() => _catalog.Delete(name, out id)))
            .ConfigureAwait(false);
        if (_ending.TryGetValue(id, out Task? ending))
            await ending.ConfigureAwait(false);
        if (unstored is not null)
            throw unstored;
    }

    /// <summary>Waits for topics that are about to end, and closes those that may yet come to be; files stay.</summary>
    public async ValueTask DisposeAsync()
    {
        _catalog.Applied -= CarryOut;
        await Task.WhenAll(_ending.Values).ConfigureAwait(false);
        foreach (Partition partition in _making.Values.SelectMany(t => t.Partitions))
            await partition.Log.DisposeAsync().ConfigureAwait(false);
    }

    private CatalogRecord.TopicEntry EntryOf(Topic topic) =>
        new(
            topic.Name,
            topic.Id,
            topic.Created,
            topic.Settings,
            topic.Credentials is { } own ? new CatalogRecord.CredentialsEntry(own.User, own.Password) : null,
            topic.Settings.IsReplicated ? null : _node,
            topic.Maker == UserNumber.None ? null : topic.Maker
        );

    private static Topic Make(CatalogRecord.TopicEntry entry) =>
        new(
            entry.Name,
            entry.Id,
            entry.Created,
            entry.Settings,
            entry.Credentials?.ToCredentials(),
            entry.Maker ?? UserNumber.None
        );

    /// <summary>Whether a topic's messages are on this node's disk, or in its memory, alone.</summary>
    private bool IsHere(CatalogRecord.TopicEntry entry) =>
        !entry.Settings.IsReplicated && (_node is null || entry.Node is null || entry.Node == _node);

    /// <summary>The topic came to nothing unless its record turns up.</summary>
    private async Task RemoveUnlessStoredAsync(Topic topic, Task<bool> outcome)
    {
        if (await outcome.ConfigureAwait(false) || !_making.TryRemove(topic.Id, out _))
            return;
        await _remover.RemoveAsync(topic).ConfigureAwait(false);
    }

    private void CarryOut()
    {
        bool changesRights = false;
        lock (_carryingOut)
        {
            ulong sequence = _catalog.Sequence; // Before the news: it has all up to there, and perhaps more.
            while (_catalog.Read(out CatalogNews news))
            {
                if (news.Topic is { } id)
                    changesRights |= CarryOut(id);
                changesRights |= news is { ChangesRights: true, IsLocal: false };
            }
            Volatile.Write(ref _sequence, sequence);
        }
        // This thread may hold locks of a change of its own.
        if (changesRights)
            _ = Task.Run(_users.RaiseChanged);
    }

    /// <returns>Whether rights may have changed.</returns>
    private bool CarryOut(Guid id)
    {
        CatalogRecord.TopicEntry? entry = _catalog.FindTopic(id);
        Topic? topic = _byId.GetValueOrDefault(id);
        bool changesRights =
            (entry?.Name ?? topic?.Name) is { } name && _letterOwners.Change(name, topic?.Settings, entry?.Settings);
        if (entry is null)
        {
            if (topic is not null)
                End(topic);
        }
        else if (topic is null)
        {
            if (!_making.TryRemove(id, out topic))
            {
                topic = Make(entry);
                if (IsHere(entry)) // Made by a node of the same name: its partitions say what is missing.
                    _opener.Recover([topic], _catalog.ProducerCheck());
            }
            Place(topic, entry);
            Serve(topic);
        }
        else
        {
            if (entry.Settings.IsReplicated && !topic.Settings.IsReplicated)
                Replicate(topic, entry.Settings);
            else if (topic.Settings != entry.Settings)
                topic.Apply(entry.Settings);
            TopicCredentials? credentials = entry.Credentials?.ToCredentials();
            if (topic.Credentials != credentials)
                topic.Credentials = credentials;
        }
        return changesRights;
    }

    /// <summary>A topic has got replicas. The node that had its messages has ended its partitions before.</summary>
    private void Replicate(Topic topic, TopicSettings settings)
    {
        topic.Settings = settings;
        if (topic.Partitions.All(p => p.Refusal is not null))
        {
            _replicas.Adopt(topic);
            return;
        }
        // This node has made the change in an earlier run, without knowing that it would count.
        var refusal = new PartitionRefusal(
            ErrorCode.NotLeader,
            "the topic has got replicas, and this node serves it when it is started again",
            "the topic has got replicas"
        );
        foreach (Partition partition in topic.Partitions)
        {
            topic.Put(
                new Partition(topic, partition.Index, _time) { Refusal = refusal, Log = new RefusedLog(refusal) }
            );
            partition.CloseAll(new Streams.StreamClose(ErrorCode.NotLeader, refusal.Reason));
        }
        _events()?.OnRefused($"the topic {topic.Name}", new InvalidOperationException(refusal.Reason));
    }

    /// <summary>Gives a topic its partitions, as far as they are not open already.</summary>
    private void Place(Topic topic, CatalogRecord.TopicEntry entry)
    {
        if (entry.Settings.IsReplicated)
            _replicas.Begin(topic);
        else if (!IsHere(entry))
            topic.Partitions = Elsewhere(topic, entry);
    }

    private ImmutableArray<Partition> Elsewhere(Topic topic, CatalogRecord.TopicEntry entry)
    {
        string reason = $"the topic has no replicas, and its messages are on the node '{entry.Node}'";
        var refusal = new PartitionRefusal(ErrorCode.NotLeader, reason, reason) { Node = entry.Node! };
        return
        [
            .. Enumerable
                .Range(0, (int)topic.Settings.Partitions)
                .Select(i => new Partition(topic, (uint)i, _time)
                {
                    Refusal = refusal,
                    Log = new RefusedLog(refusal),
                    Leader = () => (0, _replicas.Members?.Find(entry.Node!)?.DataAddress ?? ""),
                }),
        ];
    }

    private void Serve(Topic topic)
    {
        foreach (Partition partition in topic.Partitions)
            _keepHouse(partition);
        _byId[topic.Id] = topic;
        _topics[topic.Name] = topic;
    }

    private void End(Topic topic)
    {
        _byId.Remove(topic.Id);
        _topics.TryRemove(KeyValuePair.Create(topic.Name, topic));
        Task ending = Task.Run(() => EndAsync(topic));
        _ending[topic.Id] = ending;
        _ = ending.ContinueWith(_ => _ending.TryRemove(topic.Id, out Task? _), TaskScheduler.Default);
    }

    private async Task EndAsync(Topic topic)
    {
        try
        {
            await _remover.EndAsync(topic).ConfigureAwait(false);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or BrokerException)
        {
            _events()?.OnRefused($"the removal of the topic {topic.Name}", e); // Nobody waits for one of another node.
            throw;
        }
    }
}
