using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;
using LightQ.Broker.Backups;
using LightQ.Broker.Catalog;
using LightQ.Broker.DeadLetters;
using LightQ.Broker.Delays;
using LightQ.Broker.Groups;
using LightQ.Broker.Logs;
using LightQ.Broker.Producers;
using LightQ.Broker.Streams;
using LightQ.Broker.Subscriptions;
using LightQ.Broker.Topics;
using LightQ.Broker.Users;
using LightQ.Protocol;
using LightQ.Protocol.Frames;
using LightQ.Scheduling;
using LightQ.Storage;
using LightQ.Storage.Backups;
using LightQ.Storage.Files;
using LightQ.Storage.Spilling;
using LightQ.Storage.State;

namespace LightQ.Broker;

/// <summary>The engine: topics and the streams on them. Knows no sockets; thread-safe.</summary>
/// <remarks>
/// Methods that create, change or delete block on the disk; opening streams does so unless
/// <see cref="IsQuick(OpenProducerFrame)"/> says otherwise.
/// </remarks>
public sealed class LightQBroker : IAsyncDisposable
{
    private static readonly TimeSpan HousekeepingGrain = TimeSpan.FromMilliseconds(500);

    private volatile BrokerOptions _options;
    private readonly SteadyClock _time;
    private readonly DataDirectoryLock _lock;
    private readonly JournalEnvironment _environment;
    private readonly TopicCatalog _catalog;
    private readonly OffsetStore _positions;
    private readonly DeadLetterOffice _deadLetters;
    private readonly PartitionOpener _opener;
    private readonly TopicRemover _remover;
    private readonly Replicas _replicas;
    private readonly BackupSource _backups;
    private readonly ReplicaMaker _replicaMaker;
    private readonly SpillStore _spills;
    private readonly DelaySchedule _delays;
    private readonly TopicDirectory _directory;
    private readonly ConcurrentDictionary<string, Topic> _topics;
    private readonly Lock _changes = new();
    private readonly ProducerNames _names;
    private readonly PendingBudget _pending;
    private readonly TopicRoom _room;
    private readonly HousekeepingSchedule _housekeeping;
    private readonly PartitionHousekeeping _partitionHousekeeping;
    private volatile bool _stopping;

    private LightQBroker(string directory, BrokerOptions options, TimeProvider time)
    {
        _options = options;
        time = _time = SteadyClock.Over(time);
        Refusals = options.Refusals ?? new LimitRefusals();
        _pending = new PendingBudget(() => _options, Refusals);
        _room = new TopicRoom(() => _topics!.Values, () => _options, Refusals);
        Started = time.GetUtcNow();
        _delays = new DelaySchedule(time);
        _housekeeping = new HousekeepingSchedule(time, HousekeepingGrain);
        _partitionHousekeeping = new PartitionHousekeeping(
            _housekeeping,
            HousekeepingGrain,
            options,
            partition => Groups!.Keep(partition)
        );
        BackupRestore.ThrowIfUnfinished(directory);
        _lock = DataDirectoryLock.Acquire(directory);
        try
        {
            _environment = options.OpenEnvironment(
                new JournalEnvironmentOptions
                {
                    Writers = options.JournalWriters,
                    CheckpointInterval = options.CheckpointInterval,
                    ScrubBytesPerSecond = options.ScrubBytesPerSecond,
                    ScrubInterval = options.ScrubInterval,
                    TimeProvider = time,
                }
            );
            _spills = new SpillStore(
                Path.Combine(directory, "spill"),
                _environment,
                new SpillOptions
                {
                    MaxQueueBytes = options.SpillBytesPerSubscription,
                    MaxBytes = options.SpillBytes,
                    MaxMemoryBytes = options.BacklogMemoryBytes,
                    IsShareUsedUp = new SpillShare(() => _options, Refusals).IsUsedUp,
                    OnFailed = error => options.StorageEvents?.OnRefused("the backlog of a slow subscription", error),
                }
            );
            TopicCatalog.ThrowIfGone(directory);
            Id = BrokerIdentity.ReadOrCreate(directory, options.StorageEvents);
            _catalog = CatalogOpening.Open(directory, _environment, options.Replication, time, OnCatalogFailure);
            _names = new ProducerNames(_catalog, () => _options, Refusals);
            Users = new UserStore(_catalog, time, () => _options, Refusals);
            _positions = OffsetStore.Open(
                Path.Combine(directory, "groups"),
                _environment,
                failure => options.StorageEvents?.OnStateFailed(StoredState.Positions, failure)
            );
            if (options.StorageEvents is { } events)
                MissingState.Tell(directory, _catalog, _positions, events);
            Groups = new GroupRegistry(this, _positions, _deadLetters = new DeadLetterOffice(this, time), _environment);
            _opener = new PartitionOpener(
                Path.Combine(directory, "topics"),
                _environment,
                time,
                _delays,
                () => _options,
                Refusals,
                Groups.SettledRetention.SettledBefore,
                _catalog,
                KnownOffsets.Of(_positions)
            );
            _replicas = new Replicas(_opener, Groups, ServeOwned, () => _options, time);
            _remover = new TopicRemover(_catalog, _opener, Groups, _replicas);
            _directory = new TopicDirectory(
                _catalog,
                Users,
                _opener,
                _replicas,
                _remover,
                () => _options,
                partition => partition.BeginHousekeeping(_partitionHousekeeping),
                time
            );
            _topics = _directory.Topics;
            Decisions = new CatalogDecisions(_catalog, () => _directory.Sequence, options.Replication, time);
            _replicaMaker = new ReplicaMaker(
                new ReplicaSource
                {
                    Catalog = _catalog,
                    Opener = _opener,
                    Groups = Groups,
                    Replicas = _replicas,
                    Serve = ServeOwned,
                    Options = () => _options,
                    Time = time,
                }
            );
            _backups = new BackupSource(
                () => _topics.Values,
                Groups,
                _positions,
                _catalog,
                options.Replication is { } cluster
                    ? new StreamCopier(_opener, cluster, Path.Combine(directory, "backup"))
                    : null,
                time
            );
            _directory.Recover();
            foreach (Partition partition in _topics.Values.SelectMany(t => t.Partitions))
                partition.Delays?.Begin();
            new GroupExpiry(this, _housekeeping).Begin();
            _catalog.Follow();
            if (options.Replication is { } replication)
            {
                Streams = new StreamCensus(_catalog, replication, time);
                Streams.Begin();
                _replicas.BeginWatch(this, _housekeeping);
            }
        }
        catch
        {
            _positions?.Dispose();
            _catalog?.Dispose();
            _spills?.Dispose();
            _environment?.Dispose();
            _lock.Dispose();
            _delays.Dispose();
            _housekeeping.Dispose();
            throw;
        }
    }

    /// <summary>Identifies the data directory; stays the same over restarts.</summary>
    public Guid Id { get; }

    /// <summary>When the engine was opened.</summary>
    public DateTimeOffset Started { get; }

    /// <summary>What the engine's limits have refused.</summary>
    public LimitRefusals Refusals { get; }

    /// <summary>
    /// The settings. Limits are looked up here whenever they are met, so another value counts at once; what else is in
    /// there counts from the start on.
    /// </summary>
    public BrokerOptions Options
    {
        get => _options;
        set => _options = value;
    }

    /// <summary>The time by which everything is decided.</summary>
    internal SteadyClock Clock => _time;

    /// <summary>Whether it is part of a cluster, and can have topics with replicas.</summary>
    internal bool HasReplication => _options.Replication is not null;

    /// <summary>What depends on the catalog, or changes it, is decided and done by it.</summary>
    internal CatalogDecisions Decisions { get; }

    /// <summary>The topics with replicas, and the nodes that share them.</summary>
    internal Replicas Replicas => _replicas;

    /// <summary>The catalog.</summary>
    internal TopicCatalog Catalog => _catalog;

    /// <summary>The streams of the cluster that no topic has; null without one.</summary>
    internal StreamCensus? Streams { get; }

    /// <summary>Brings dead letters to other nodes; null where there are none.</summary>
    internal ILetterCarrier? LetterCarrier { get; set; }

    /// <summary>Bytes of batches that wait in memory because their topics are full.</summary>
    public long PendingBytes => _pending.Used;

    /// <summary>How often the journals have synced their files.</summary>
    public long Syncs => _environment.Syncs;

    /// <summary>How long these syncs took together.</summary>
    public TimeSpan SyncTime => _environment.SyncTime;

    /// <summary>How many of them took how long.</summary>
    public SyncDurations SyncDurations => _environment.SyncDurations;

    /// <summary>Bytes of durable topics that were read again to find damage.</summary>
    public long ScrubbedBytes => _environment.ScrubbedBytes;

    /// <summary>Complete passes of that over everything.</summary>
    public long ScrubPasses => _environment.ScrubPasses;

    /// <summary>Bytes that the disk under the data directory still takes.</summary>
    public long FreeBytes => _environment.FreeBytes(_lock.Directory);

    /// <summary>The groups.</summary>
    public GroupRegistry Groups { get; }

    /// <summary>The users, their rights and tokens.</summary>
    public UserStore Users { get; }

    /// <summary>Bytes of backlogs that slow subscriptions spill, in memory and on the disk.</summary>
    public long SpilledBytes => _spills.Bytes;

    /// <summary>Bytes of memory lent for what slow subscriptions keep outside their rings.</summary>
    public long BacklogMemoryBytes => _spills.Memory.Used;

    /// <summary>The topics, in no order.</summary>
    public IEnumerable<Topic> Topics => _topics.Values;

    /// <summary>Whether it accepts no new streams.</summary>
    public bool IsStopping => _stopping;

    /// <summary>Why state on the disk stays behind what counts; null while it does not.</summary>
    public JournalFailure? FailureOf(StoredState state) =>
        state switch
        {
            StoredState.Positions => _positions.Failure,
            StoredState.ClusterCatalog => HasReplication ? _catalog.Failure : null,
            _ => HasReplication ? null : _catalog.Failure,
        };

    /// <summary>Locks the data directory, recovers every topic and is then ready.</summary>
    /// <param name="directory">The data directory; created when missing, locked while the broker runs.</param>
    /// <param name="options">The settings.</param>
    /// <param name="time">The clock.</param>
    /// <exception cref="DataDirectoryException">
    /// The directory cannot be written, or another broker holds it.
    /// </exception>
    public static Task<LightQBroker> OpenAsync(string directory, BrokerOptions options, TimeProvider time) =>
        Task.Run(() => new LightQBroker(directory, options, time));

    /// <summary>Finds a topic.</summary>
    /// <exception cref="BrokerException">There is none: <see cref="ErrorCode.UnknownTopic"/>.</exception>
    public Topic GetTopic(string name) =>
        _topics.TryGetValue(name, out Topic? topic)
            ? topic
            : throw new BrokerException(ErrorCode.UnknownTopic, $"There is no topic '{TopicName.Printable(name)}'.");

    /// <summary>Finds a topic.</summary>
    public bool TryGetTopic(string name, [NotNullWhen(true)] out Topic? topic) => _topics.TryGetValue(name, out topic);

    /// <summary>Creates a topic.</summary>
    /// <param name="name">Its name.</param>
    /// <param name="settings">Its settings; defaults are filled in.</param>
    /// <param name="credentials">Its own user; null for none.</param>
    /// <param name="maker">The <see cref="UserNumber"/> of whoever makes it.</param>
    /// <exception cref="BrokerException">The name or a setting is not allowed, or the name is taken.</exception>
    public Topic CreateTopic(
        string name,
        TopicSettings settings,
        TopicCredentials? credentials = null,
        uint maker = UserNumber.None
    )
    {
        if (!TopicName.IsValid(name))
        {
            throw new BrokerException(
                ErrorCode.InvalidArgument,
                $"'{TopicName.Printable(name)}' is not a topic name; allowed: {TopicName.Rule}."
            );
        }

        DeadLetterOffice.DemandName(name, settings);
        return Create(name, settings, credentials, maker);
    }

    /// <summary>The topics that have a topic keep their letters by its name; rights follow them.</summary>
    public IReadOnlySet<string> LetterOwnersOf(string topic) => _directory.LetterOwners.Of(topic);

    /// <summary>By which the nodes of the cluster know each other.</summary>
    internal byte[] GetNodeSecret() => _catalog.GetNodeSecret();

    /// <summary>Creates a topic for dead letters; its own name may leave no room for that of another.</summary>
    /// <exception cref="BrokerException">A setting is not allowed, or the name is taken.</exception>
    internal Topic CreateDeadLetterTopic(string name, TopicSettings settings) =>
        Create(name, settings, credentials: null, UserNumber.None);

    /// <summary>
    /// Changes what may be changed: retention, ack level, slow-consumer policy, deduplication, and so on.
    /// </summary>
    /// <returns>What <see cref="Topic.IdsRead"/> says; everything else counts when this returns.</returns>
    /// <exception cref="BrokerException">
    /// Messages can be dead-lettered from now on, and the dead-letter topic has no name.
    /// </exception>
    public Task ChangeSettingsAsync(Topic topic, TopicSettings settings)
    {
        lock (_changes)
        {
            if (topic.Settings.Delivery.MaxDeliveries == 0 && settings.Delivery.MaxDeliveries != 0)
                DeadLetterOffice.DemandName(topic.Name, settings);
            if (settings.Delivery.DeadLetterTopic != topic.Settings.Delivery.DeadLetterTopic)
                DeadLetterOffice.DemandDurable(topic.Name, settings, _topics);
            _catalog.SetSettings(topic.Id, settings.Complete());
            return topic.LastApplied;
        }
    }

    /// <summary>
    /// Begins to give a durable topic of this node replicas, or says how far that has come. It goes on by itself.
    /// </summary>
    /// <exception cref="BrokerException">It cannot have them, or what was begun has come to nothing.</exception>
    public ReplicationProgress ReplicateTopic(string name, uint replicas)
    {
        ThrowIfStopping();
        return _replicaMaker.Advance(GetTopic(name), replicas);
    }

    /// <summary>Gives a topic its own user, another password, or none; null takes it away.</summary>
    /// <exception cref="BrokerException">There is no such topic.</exception>
    /// <exception cref="UnstoredException">
    /// The disk refuses: a user it gets counts all the same, as it shuts others out; that it has none does not.
    /// </exception>
    public void SetCredentials(string name, TopicCredentials? credentials)
    {
        UnstoredException? unstored;
        lock (_changes)
            unstored = UnstoredException.Of(() => _catalog.SetCredentials(name, credentials));
        Users.RaiseChanged();
        if (unstored is not null)
            throw unstored;
    }

    /// <summary>Deletes a topic; its streams end with <see cref="ErrorCode.TopicDeleted"/>.</summary>
    /// <exception cref="UnstoredException">
    /// The disk refuses: the topic is gone all the same, and its files stay until the disk has taken that. Or the
    /// cluster's catalog could not be changed: then the topic stays.
    /// </exception>
    public async Task DeleteTopicAsync(string name, CancellationToken asker = default)
    {
        bool hasUser = TryGetTopic(name, out Topic? topic) && topic.Credentials is not null;
        try
        {
            await _directory.DeleteAsync(name, change => Decisions.ChangeAsync(change, asker)).ConfigureAwait(false);
        }
        finally
        {
            if (hasUser)
                Users.RaiseChanged();
        }
    }

    /// <summary>Removes messages of a partition before an offset; -1 removes all that are readable.</summary>
    /// <returns>The first offset now served.</returns>
    public long TruncateTopic(string name, uint partition, long beforeOffset)
    {
        if (beforeOffset < -1)
        {
            throw new BrokerException(
                ErrorCode.InvalidArgument,
                $"before_offset is {beforeOffset}; allowed: -1 (all) or an offset."
            );
        }

        return GetTopic(name).GetPartition(partition).Log.Truncate(beforeOffset);
    }

    /// <summary>Whether the request can be served without touching the disk.</summary>
    public bool IsQuick(OpenProducerFrame request) => request.ProducerName.Length == 0 && IsQuick(request.Topic);

    /// <summary>Whether the request can be served without touching the disk.</summary>
    public bool IsQuick(SubscribeFrame request) => IsQuick(request.Topic);

    /// <summary>Opens a producer stream, and blocks until that is done.</summary>
    /// <exception cref="BrokerException">
    /// The topic or partition is unknown, the name not allowed, or the ack level cannot be reached.
    /// </exception>
    public ProducerStream OpenProducer(
        IStreamOwner owner,
        uint id,
        OpenProducerFrame request,
        out ProducerOpenedFrame opened,
        bool refusesAlone = false
    )
    {
        (ProducerStream stream, opened) = OpenProducerAsync(owner, id, request, refusesAlone)
            .AsTask()
            .GetAwaiter()
            .GetResult();
        return stream;
    }

    /// <summary>
    /// Opens a producer stream. Completes at once unless the producer has a name in a cluster's catalog.
    /// </summary>
    /// <exception cref="BrokerException">As <see cref="OpenProducer"/>; or the owner has ended meanwhile.</exception>
    public async ValueTask<(ProducerStream Stream, ProducerOpenedFrame Opened)> OpenProducerAsync(
        IStreamOwner owner,
        uint id,
        OpenProducerFrame request,
        bool refusesAlone = false
    )
    {
        ThrowIfStopping();
        ThrowIfEnded(owner);
        Topic topic = GetTopic(request.Topic);
        Partition partition =
            request.Partition == OpenProducerFrame.AnyPartition
                ? topic.LeastUsed()
                : topic.GetPartition(request.Partition);
        Durability ack = OpeningTerms.Level(partition, request.AckLevel);
        partition.ThrowIfFailed();
        (ulong producerId, uint epoch, ProducerState? state) = await _names
            .AttachAsync(partition, owner, request)
            .ConfigureAwait(false);
        int window = _options.PublishWindowBytes;
        var stream = new ProducerStream(owner, id, partition, state, epoch, ack, window, _pending, refusesAlone);
        partition.Attach(stream);
        if (ack == Durability.Written)
            partition.Log.NotifyWritten();
        return (stream, OpeningTerms.Answer(partition, producerId, epoch, state, ack, window));
    }

    /// <summary>Opens a subscription.</summary>
    /// <exception cref="BrokerException">
    /// The topic or partition is unknown, the group's name not allowed, or the mode not supported.
    /// </exception>
    public Subscription Subscribe(IStreamOwner owner, uint id, SubscribeFrame request, out SubscribedFrame subscribed)
    {
        ThrowIfStopping();
        ThrowIfEnded(owner);
        Partition partition = GetTopic(request.Topic).ReadBy(request.Partition);
        MemberRules.Check(request);
        if (request.Start == StartKind.Offset && request.StartValue < 0)
        {
            throw new BrokerException(
                ErrorCode.InvalidArgument,
                $"The start offset is {request.StartValue}; allowed: 0 or more."
            );
        }

        if (
            request.SlowTimeoutMilliseconds
            is not 0
                and (< ProtocolLimits.MinSlowTimeoutMilliseconds or > ProtocolLimits.MaxSlowTimeoutMilliseconds)
        )
        {
            throw new BrokerException(
                ErrorCode.InvalidArgument,
                $"The slow-consumer time-out is {request.SlowTimeoutMilliseconds} ms; allowed: 0 (the broker's "
                    + $"default) or {ProtocolLimits.MinSlowTimeoutMilliseconds} to "
                    + $"{ProtocolLimits.MaxSlowTimeoutMilliseconds}."
            );
        }

        SlowPolicy policy =
            request.SlowPolicy == SlowPolicy.TopicDefault ? partition.Topic.Settings.SlowPolicy : request.SlowPolicy;
        Subscription subscription;
        if (request.Group.Length != 0)
        {
            if (!TopicName.IsValid(request.Group))
            {
                throw new BrokerException(
                    ErrorCode.InvalidArgument,
                    $"'{TopicName.Printable(request.Group)}' is not a group name; allowed: {TopicName.Rule}."
                );
            }

            if (request.SlowPolicy is not (SlowPolicy.TopicDefault or SlowPolicy.Block))
            {
                throw new BrokerException(
                    ErrorCode.NotSupported,
                    $"A group's slow-consumer policy is block, whatever the topic's is; {request.SlowPolicy} is for "
                        + $"subscriptions without a group."
                );
            }

            subscription = Groups.Join(owner, id, partition, request);
        }
        else
        {
            if (request.Start == StartKind.Committed)
            {
                throw new BrokerException(
                    ErrorCode.InvalidArgument,
                    "Only a group has a committed position; a broadcast subscription starts at earliest, latest, an "
                        + "offset or a time."
                );
            }

            subscription = new BroadcastSubscription(owner, id, partition, request, policy, _spills)
            {
                Member = request.Member,
            };
        }
        subscription.SlowTimeout = TimeSpan.FromMilliseconds(request.SlowTimeoutMilliseconds);
        partition.Attach(subscription);
        subscribed = SubscriptionTerms.Answer(partition, subscription);
        return subscription;
    }

    private bool IsQuick(string topic) =>
        _topics.TryGetValue(topic, out Topic? found) ? found.Settings.Kind == TopicKind.Transient : !HasReplication;

    /// <summary>What was asked for on a connection that has ended is dropped.</summary>
    private static void ThrowIfEnded(IStreamOwner owner)
    {
        if (owner.HasEnded)
            throw new BrokerException(ErrorCode.Closed, "The connection has ended.");
    }

    /// <summary>
    /// Takes what there is to back up, as of now. Copying it is for the caller, and holds nothing up.
    /// </summary>
    /// <param name="skipFailed">Whether topics that could not be opened are left out.</param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <exception cref="BrokerException">
    /// A topic could not be opened, <see cref="ErrorCode.TopicFailed"/>, the replicated log does not answer, or the
    /// broker is stopping.
    /// </exception>
    public Task<BrokerBackup> BeginBackupAsync(bool skipFailed, CancellationToken cancellationToken)
    {
        ThrowIfStopping();
        return _backups.BeginAsync(_changes, skipFailed, cancellationToken);
    }

    /// <summary>
    /// Accepts no new streams, and gives the members of groups no more messages, so that what they hold comes to an
    /// end. Acks and settlements go on.
    /// </summary>
    public void BeginDrain()
    {
        _stopping = true;
        foreach (Group group in _topics.Values.SelectMany(t => t.Partitions).SelectMany(p => p.Groups()))
            group.Drain();
    }

    /// <summary>Accepts no new streams; call before the connections are told to go.</summary>
    public void BeginStop() => _stopping = true;

    /// <summary>Keeps positions, drains and closes every log. Streams must be released before.</summary>
    /// <exception cref="IOException">
    /// The disk did not take what was not acknowledged yet; everything else is closed all the same.
    /// </exception>
    public async ValueTask DisposeAsync()
    {
        _stopping = true;
        if (Streams is not null)
            await Streams.DisposeAsync().ConfigureAwait(false);
        await _replicaMaker.DisposeAsync().ConfigureAwait(false);
        await _catalog.StopFollowingAsync().ConfigureAwait(false);
        await _replicas.DisposeAsync().ConfigureAwait(false);
        await _housekeeping.DisposeAsync().ConfigureAwait(false);
        await _deadLetters.DisposeAsync().ConfigureAwait(false);
        foreach (Partition partition in _topics.Values.SelectMany(t => t.Partitions))
            Groups.Keep(partition);
        _delays.Dispose();
        foreach (Partition partition in _topics.Values.SelectMany(t => t.Partitions))
            partition.Delays?.Stop();
        try
        {
            await Task.WhenAll(_topics.Values.SelectMany(t => t.Partitions).Select(p => p.Log.DisposeAsync().AsTask()))
                .ConfigureAwait(false);
            await _directory.DisposeAsync().ConfigureAwait(false);
            await _remover.DisposeAsync().ConfigureAwait(false);
        }
        finally
        {
            // Also when a full disk could not store what a topic had not acknowledged yet.
            CloseFiles();
        }
    }

    private void CloseFiles()
    {
        try
        {
            _positions.Dispose();
        }
        finally
        {
            try
            {
                _catalog.Dispose();
            }
            finally
            {
                _spills.Dispose();
                _environment.Dispose();
                _lock.Dispose();
            }
        }
    }

    private void OnCatalogFailure(JournalFailure? failure)
    {
        _options.StorageEvents?.OnStateFailed(
            HasReplication ? StoredState.ClusterCatalog : StoredState.Catalog,
            failure
        );
        if (failure is null)
            _ = Task.Run(() => _remover?.RemoveWaitingAsync()); // The catalog is locked here.
    }

    private Topic Create(string name, TopicSettings settings, TopicCredentials? credentials, uint maker)
    {
        settings = settings.Complete();
        lock (_changes)
        {
            ThrowIfStopping();
            settings.DemandCluster(HasReplication);
            // By a copy that may be old: topics may have been deleted elsewhere.
            if (HasReplication && _room.IsShort(settings))
                Decisions.ReadOn();
            Decisions.Decide(() => DemandPlace(name, settings));
            _room.Demand(settings, maker);
            var topic = new Topic(name, Guid.NewGuid(), _time.GetUtcNow(), settings, credentials, maker);
            _directory.Create(topic);
            return topic;
        }
    }

    private void ServeOwned(Partition partition)
    {
        partition.BeginHousekeeping(_partitionHousekeeping);
        partition.Delays?.Begin();
    }

    /// <summary>Whether the other topics allow one of that name. Under the lock of changes.</summary>
    private void DemandPlace(string name, TopicSettings settings)
    {
        if (_topics.ContainsKey(name))
            throw new BrokerException(ErrorCode.TopicExists, $"The topic '{name}' exists already.");
        DeadLetterOffice.DemandDurable(name, settings, _topics);
    }

    private void ThrowIfStopping()
    {
        if (_stopping)
            throw new BrokerException(ErrorCode.ShuttingDown, "The broker is stopping.");
    }
}
