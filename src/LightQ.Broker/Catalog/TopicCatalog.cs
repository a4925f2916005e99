using LightQ.Broker.Topics;
using LightQ.Broker.Users;
using LightQ.Protocol;
using LightQ.Storage;

namespace LightQ.Broker.Catalog;

/// <summary>
/// What survives a restart besides messages: topics, named producers, users and tokens. One broker's own, in a file, or
/// that of a cluster, in a stream (docs/design/cluster.md, The catalog).
/// </summary>
/// <remarks>
/// A change counts, here and for <see cref="Applied"/>, when the call returns; where another node was faster it is
/// checked again with what that has changed. Thread-safe; calls block on the disk or the engine.
/// </remarks>
internal sealed class TopicCatalog : IDisposable
{
    /// <summary>Where a broker's own is in the data directory.</summary>
    public const string DirectoryName = "catalog";

    private const long CompactBytes = 4 * 1024 * 1024;

    /// <summary>Names that one record forgets: their ids take far less than the smallest entry of an engine.</summary>
    private const int ForgottenAtOnce = 10_000;

    private readonly CatalogTables _tables;
    private readonly IRecordLog _log;

    /// <summary>One broker's own, in a file.</summary>
    /// <param name="directory">Where it is.</param>
    /// <param name="environment">Whose files and housekeeping it uses.</param>
    /// <param name="failureChanged">
    /// Called when <see cref="Failure"/> begins, and with null when it is over; the catalog is locked.
    /// </param>
    /// <param name="compactBytes">When it is written anew.</param>
    public TopicCatalog(
        string directory,
        JournalEnvironment environment,
        Action<JournalFailure?>? failureChanged = null,
        long compactBytes = CompactBytes
    )
    {
        _tables = new CatalogTables();
        _log = new FileRecordLog(directory, environment, _tables, failureChanged ?? (static _ => { }), compactBytes);
    }

    /// <summary>One whose records are in a log that has been read.</summary>
    public TopicCatalog(CatalogTables tables, IRecordLog log)
    {
        _tables = tables;
        _log = log;
    }

    /// <summary>
    /// Called after something was applied, on the thread that did, for <see cref="Read(out CatalogNews)"/>. It may hold
    /// locks of its own.
    /// </summary>
    public event Action? Applied;

    /// <summary>Bytes of the journal.</summary>
    internal long Bytes => (_log as FileRecordLog)?.Bytes ?? 0;

    /// <inheritdoc cref="FileRecordLog.Rebuilt"/>
    public string? Rebuilt => (_log as FileRecordLog)?.Rebuilt;

    /// <summary>Whether it is that of a cluster.</summary>
    public bool IsShared => _log.IsShared;

    /// <summary>The last change of other nodes that counts here; only grows.</summary>
    public ulong Sequence => _log.Applied;

    /// <summary>The cluster that it is of; null for a broker's own.</summary>
    public Guid? ClusterId
    {
        get
        {
            lock (_tables.Lock)
                return _tables.Cluster?.Id;
        }
    }

    /// <summary>What the stream of a cluster's catalog has lost; null while it is whole.</summary>
    public string? Loss => (_log as StreamRecordLog)?.Loss;

    /// <summary>What it holds.</summary>
    internal CatalogTables Tables => _tables;

    /// <summary>The topics, in no order.</summary>
    public IReadOnlyCollection<CatalogRecord.TopicEntry> Topics
    {
        get
        {
            lock (_tables.Lock)
                return [.. _tables.Topics];
        }
    }

    /// <summary>The users and tokens.</summary>
    public UserTable Users => _tables.Users;

    /// <summary>Why what is stored is not, or may not be, what counts; null while it is.</summary>
    public JournalFailure? Failure => _log.Failure;

    /// <summary>
    /// Refuses a data directory that a broker has worked in and whose catalog is gone: it would be taken for a new one,
    /// without topics, users and rights.
    /// </summary>
    /// <exception cref="DataDirectoryException">It is.</exception>
    public static void ThrowIfGone(string dataDirectory)
    {
        _ = ClusterMembership.Read(dataDirectory); // That of a cluster's node is elsewhere.
        string catalog = Path.Combine(dataDirectory, DirectoryName);
        if (CatalogReader.IsGone(dataDirectory))
        {
            throw new DataDirectoryException(
                dataDirectory,
                $"There are topics or groups in '{dataDirectory}', and no file in '{catalog}', which knows their "
                    + $"names, settings, users and rights: put it back, or restore a backup into another directory.",
                new FileNotFoundException(catalog)
            );
        }
    }

    /// <summary>From now on <see cref="Read"/> gives what changes, and changes of other nodes arrive.</summary>
    public void Follow()
    {
        _tables.HasListener = true;
        _log.Follow(() => Applied?.Invoke());
    }

    /// <inheritdoc cref="StreamRecordLog.RewriteAsync"/>
    public async Task RewriteAsync(CancellationToken cancellationToken)
    {
        await ((StreamRecordLog)_log).RewriteAsync(cancellationToken).ConfigureAwait(false);
        Applied?.Invoke();
    }

    /// <summary>Ends that; completes when nothing more arrives.</summary>
    public ValueTask StopFollowingAsync() => _log.StopFollowingAsync();

    /// <summary>Takes the next of what was changed.</summary>
    public bool Read(out CatalogNews news) => _tables.News.TryDequeue(out news);

    /// <summary>
    /// By which the nodes of the cluster know each other; made here if an earlier version has made none.
    /// </summary>
    /// <exception cref="UnstoredException">It is made, and not stored.</exception>
    public byte[] GetNodeSecret()
    {
        Change(() =>
            _tables.Cluster is { Secret: null } cluster
                ? new CatalogRecord { Cluster = cluster with { Secret = CatalogRecord.ClusterEntry.NewSecret() } }
                : null
        );
        lock (_tables.Lock)
            return _tables.Cluster!.Secret!;
    }

    /// <summary>Finds a topic's record.</summary>
    public CatalogRecord.TopicEntry? FindTopic(Guid id)
    {
        lock (_tables.Lock)
            return _tables.FindTopic(id);
    }

    /// <summary>Applies what other nodes have stored until now.</summary>
    /// <exception cref="Replication.ReplicationException">The stream cannot be read.</exception>
    public void CatchUp()
    {
        _log.CatchUp();
        Applied?.Invoke();
    }

    /// <summary>The same without blocking. Those that ask at the same time share one reading.</summary>
    /// <exception cref="Replication.ReplicationException">The stream cannot be read.</exception>
    public async Task CatchUpAsync(CancellationToken cancellationToken)
    {
        await _log.CatchUpAsync(cancellationToken).ConfigureAwait(false);
        Applied?.Invoke();
    }

    /// <summary>Keeps a new topic.</summary>
    /// <exception cref="BrokerException">Its name is taken, or it is not stored.</exception>
    public void Create(CatalogRecord.TopicEntry topic) =>
        Change(() =>
            _tables.TryFindTopic(topic.Name, out _)
                ? throw new BrokerException(ErrorCode.TopicExists, $"The topic '{topic.Name}' exists already.")
                : new CatalogRecord { Topic = topic }
        );

    /// <summary>Gives a topic other settings.</summary>
    /// <exception cref="BrokerException">There is no such topic, or it is not stored.</exception>
    public void SetSettings(Guid id, TopicSettings settings) =>
        Change(() =>
        {
            CatalogRecord.TopicEntry topic =
                _tables.FindTopic(id) ?? throw new BrokerException(ErrorCode.UnknownTopic, "The topic is gone.");
            if (topic.Settings.Replicas != settings.Replicas)
            {
                throw new BrokerException(
                    ErrorCode.Unavailable,
                    $"The topic '{topic.Name}' has got replicas meanwhile. Try again."
                );
            }
            return new CatalogRecord { Topic = topic with { Settings = settings } };
        });

    /// <summary>Gives a topic replicas: from now on its messages are in streams.</summary>
    /// <exception cref="BrokerException">There is no such topic, or it is not stored.</exception>
    public void SetReplicas(Guid id, uint replicas) =>
        Change(() =>
        {
            CatalogRecord.TopicEntry topic =
                _tables.FindTopic(id) ?? throw new BrokerException(ErrorCode.UnknownTopic, "The topic is gone.");
            return new CatalogRecord
            {
                Topic = topic with { Settings = topic.Settings.WithReplicas(replicas), Node = null },
            };
        });

    /// <summary>Gives a topic its own user, another password, or none.</summary>
    /// <returns>Its id.</returns>
    /// <exception cref="BrokerException">There is no such topic.</exception>
    /// <exception cref="UnstoredException">
    /// It is not stored: a user it gets counts all the same where the catalog is this broker's own.
    /// </exception>
    public void SetCredentials(string name, TopicCredentials? credentials)
    {
        CatalogRecord.CredentialsEntry? own = credentials is null ? null : new(credentials.User, credentials.Password);
        Change(
            () => new CatalogRecord { Topic = GetTopic(name) with { Credentials = own } },
            takesAway: credentials is not null
        );
    }

    /// <summary>Forgets a topic and its producers.</summary>
    /// <param name="name">Its name.</param>
    /// <param name="id">Its id.</param>
    /// <exception cref="BrokerException">There is no such topic.</exception>
    /// <exception cref="UnstoredException">
    /// It is not stored; where the catalog is this broker's own the topic is forgotten all the same.
    /// </exception>
    public void Delete(string name, out Guid id)
    {
        Guid found = Guid.Empty;
        try
        {
            Change(
                () =>
                {
                    found = GetTopic(name).Id;
                    return new CatalogRecord { DeletedTopic = found };
                },
                takesAway: true
            );
        }
        finally
        {
            id = found;
        }
    }

    /// <summary>
    /// Gives a named producer its id and the next epoch, as <see cref="NextEpochsAsync"/> does, and blocks until it
    /// has.
    /// </summary>
    /// <returns>Zeros when the topic has as many names.</returns>
    /// <exception cref="BrokerException">
    /// Another has taken the name over: <see cref="ErrorCode.Fenced"/>; or it is not stored.
    /// </exception>
    public (ulong Id, uint Epoch) NextEpoch(
        Guid topic,
        string name,
        ulong instance,
        bool isReturning,
        int mostNames = int.MaxValue,
        ulong number = 0,
        uint user = UserNumber.None,
        bool isShared = false
    )
    {
        var request = new NameRequest
        {
            Topic = topic,
            Name = name,
            Instance = instance,
            IsReturning = isReturning,
            MostNames = mostNames,
            Number = number,
            User = user,
            IsShared = isShared,
        };
        NextEpochsAsync([request]).AsTask().GetAwaiter().GetResult();
        return request.Refusal is { } refusal ? throw refusal : (request.Id, request.Epoch);
    }

    /// <summary>
    /// Gives named producers their ids and the next epochs, with one entry for all of them. The id and who has the name
    /// are stored when this completes, and that no later start and no other node gives these epochs again.
    /// </summary>
    /// <remarks>
    /// Each request says what became of it. Completes at once where the catalog is this broker's own.
    /// </remarks>
    /// <exception cref="UnstoredException">Nothing is given: it is not stored.</exception>
    public async ValueTask NextEpochsAsync(IReadOnlyList<NameRequest> requests)
    {
        NamePlan plan = null!;
        IReadOnlyList<CatalogRecord> Make()
        {
            plan = new NamePlan(_tables, IsShared);
            foreach (NameRequest request in requests)
                plan.Answer(request);
            return plan.Records;
        }
        lock (_tables.Lock)
        {
            // Nothing is to be stored for epochs that were noted ahead, and this may be all of them.
            if (Make().Count == 0 && requests.All(r => r.Id != 0))
            {
                plan.Note();
                return;
            }
        }
        // Nobody has to be told, and the caller may hold a lock.
        await _log.ChangeAsync(Make, takesAway: false, () => plan.Note()).ConfigureAwait(false);
    }

    /// <summary>
    /// Tells whether a topic has a named producer of an id now, and may have given it an epoch. What else a log says of
    /// producers is nobody's.
    /// </summary>
    public Func<Guid, ulong, uint, bool> ProducerCheck()
    {
        Dictionary<(Guid Topic, ulong Id), uint> producers = EpochsNotedNow();
        return (topic, id, epoch) => producers.TryGetValue((topic, id), out uint noted) && epoch <= noted;
    }

    /// <summary>The same by what it holds at the moment.</summary>
    public bool HasProducer(Guid topic, ulong id, uint epoch)
    {
        lock (_tables.Lock)
            return _tables.FindProducer(topic, id) is { } producer && epoch <= producer.Epoch;
    }

    /// <summary>The <see cref="UserNumber"/> of whose named producer an id is, also when it is forgotten.</summary>
    public uint OwnerOf(Guid topic, ulong id)
    {
        lock (_tables.Lock)
            return _tables.OwnerOf(topic, id);
    }

    /// <summary>The newest owner of a partition that was noted; null for none.</summary>
    public CatalogRecord.OwnerEntry? FindOwner(Guid topic, uint partition)
    {
        lock (_tables.Lock)
            return _tables.FindOwner(topic, partition);
    }

    /// <summary>Notes owners of partitions, those that are news and whose topics are there.</summary>
    /// <exception cref="UnstoredException">They are not stored.</exception>
    public async ValueTask NoteOwnersAsync(IReadOnlyList<CatalogRecord.OwnerEntry> owners) =>
        await _log.ChangeAsync(
                () =>
                    [
                        .. owners
                            .Where(o => _tables.FindTopic(o.TopicId) is not null)
                            .Where(o => o.IsNewerThan(_tables.FindOwner(o.TopicId, o.Partition)))
                            .Chunk(CatalogTables.OwnersOfRecord)
                            .Select(some => new CatalogRecord { Owners = some }),
                    ],
                takesAway: false
            )
            .ConfigureAwait(false);

    /// <summary>Forgets the named producers of a topic but some. One that comes back after that is a new one.</summary>
    /// <remarks>
    /// In a file no record says so: a name that a start brings back is one that is forgotten again when there is no
    /// room, and the next compaction leaves it out. The nodes of a cluster must agree, and so a record says it.
    /// </remarks>
    public async ValueTask ForgetProducersAsync(Guid topic, IReadOnlySet<ulong> but)
    {
        if (!IsShared)
        {
            lock (_tables.Lock)
                _tables.ForgetProducers(topic, id => !but.Contains(id));
            return;
        }
        await _log.ChangeAsync(
                () =>
                {
                    ulong[] ids =
                    [
                        .. _tables
                            .Producers.Where(p => p.TopicId == topic && !but.Contains(p.Id))
                            .Select(p => p.Id)
                            .Take(ForgottenAtOnce),
                    ];
                    return ids.Length == 0
                        ? []
                        : [new CatalogRecord { ForgottenProducers = new CatalogRecord.ForgottenEntry(topic, ids) }];
                },
                takesAway: false
            )
            .ConfigureAwait(false);
    }

    /// <summary>Makes a change of users and tokens.</summary>
    /// <param name="make">
    /// Checks it against <see cref="Users"/>, and gives the record; null when there is nothing to change. It is called
    /// again when another node was faster.
    /// </param>
    /// <param name="takesAway">
    /// Whether somebody may do less from now on, or log in no more as before: then it counts even if this broker's own
    /// disk refuses it.
    /// </param>
    /// <returns>Whether there was something to change.</returns>
    /// <exception cref="UnstoredException">It is not stored.</exception>
    public bool Change(Func<CatalogRecord?> make, bool takesAway = false)
    {
        try
        {
            return _log.Change(() => make() is { } record ? [record] : [], takesAway);
        }
        finally
        {
            Applied?.Invoke();
        }
    }

    /// <summary>What it holds now, as the records of a catalog that holds nothing else.</summary>
    /// <param name="durableTopics">The durable topics that count; of others, it says nothing.</param>
    public IReadOnlyList<CatalogRecord> Capture(IReadOnlySet<Guid> durableTopics)
    {
        bool IsKept(Guid id) =>
            _tables.FindTopic(id) is { } topic
            && (topic.Settings.Kind == TopicKind.Transient || durableTopics.Contains(id));
        lock (_tables.Lock)
        {
            return
            [
                .. _tables
                    .Live()
                    .Where(r =>
                        r is { Cluster: null, Admin: null, EndedLogin: null, Owners: null }
                        && (r.Topic is null || IsKept(r.Topic.Id))
                        && (r.Producer is null || IsKept(r.Producer.TopicId))
                    ),
            ];
        }
    }

    /// <summary>Closes it.</summary>
    /// <exception cref="IOException">What counts could not be stored to the end.</exception>
    public void Dispose() => _log.Dispose();

    private CatalogRecord.TopicEntry GetTopic(string name) =>
        _tables.TryFindTopic(name, out CatalogRecord.TopicEntry? topic)
            ? topic
            : throw new BrokerException(ErrorCode.UnknownTopic, $"There is no topic '{TopicName.Printable(name)}'.");

    private Dictionary<(Guid Topic, ulong Id), uint> EpochsNotedNow()
    {
        lock (_tables.Lock)
            return _tables.Producers.ToDictionary(p => (p.TopicId, p.Id), p => p.Epoch);
    }
}
