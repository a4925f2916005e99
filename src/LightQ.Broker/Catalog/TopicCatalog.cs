using LightQ.Broker.Topics;
using LightQ.Broker.Users;
using LightQ.Protocol.Frames;
using LightQ.Scheduling;
using LightQ.Storage;
using LightQ.Storage.State;

namespace LightQ.Broker.Catalog;

/// <summary>
/// What survives a restart besides messages: topics, named producers, users and tokens. A small journal, replayed at
/// start.
/// </summary>
/// <remarks>
/// Every change is on disk before the call returns. One that the disk refuses does not count, unless it takes something
/// away; and what is on the disk then is made good by writing everything that counts into a new file, again and again
/// until that works. Thread-safe; calls block on the disk.
/// </remarks>
internal sealed class TopicCatalog : IDisposable, IHousekept
{
    /// <summary>
    /// The journal is written anew when it is this large, and later whenever it has doubled since: by then half of it
    /// is history.
    /// </summary>
    private const long CompactBytes = 4 * 1024 * 1024;

    /// <summary>Where it is in the data directory.</summary>
    public const string DirectoryName = "catalog";

    /// <summary>Epochs of a name that are noted ahead: so many partitions can be opened for one sync.</summary>
    private const uint EpochsNoted = 64;

    private static readonly TimeSpan RetryAfter = TimeSpan.FromMilliseconds(500);

    private readonly JournalEnvironment _environment;
    private readonly Action<JournalFailure?> _failureChanged;
    private readonly Lock _lock = new();
    private readonly Dictionary<Guid, CatalogRecord.TopicEntry> _topics = [];
    private readonly Dictionary<(Guid Topic, string Name), CatalogRecord.ProducerEntry> _producers = [];
    private readonly Dictionary<(Guid Topic, string Name), uint> _lastEpochs = [];
    private readonly Dictionary<Guid, int> _names = [];
    private readonly RecordJournal _journal;
    private volatile UserTable _users = UserTable.Empty;
    private volatile JournalFailure? _failure;
    private bool _disposed;
    private ulong _lastProducerId;
    private long _compactAt;

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
        _environment = environment;
        _failureChanged = failureChanged ?? (static _ => { });
        _compactAt = compactBytes;
        _journal = RecordJournal.Open(directory, environment, bytes => Apply(CatalogRecord.Read(bytes)));
        CompactIfLong();
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

    /// <summary>Why what is on the disk is not, or may not be, what counts; null while it is.</summary>
    public JournalFailure? Failure => _failure;

    /// <summary>
    /// Refuses a data directory that a broker has worked in and whose catalog is gone: it would be taken for a new one,
    /// without topics, users and rights.
    /// </summary>
    /// <exception cref="DataDirectoryException">It is.</exception>
    public static void ThrowIfGone(string dataDirectory)
    {
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

    /// <summary>Keeps a topic, new or changed.</summary>
    /// <param name="topic">The topic.</param>
    /// <param name="settings">The settings it is to have.</param>
    /// <param name="credentials">The user it is to have.</param>
    /// <param name="takesAway">
    /// Whether the change takes a right away: then it counts even if the disk refuses it.
    /// </param>
    /// <exception cref="UnstoredException">The disk refuses.</exception>
    public void Put(Topic topic, TopicSettings settings, TopicCredentials? credentials, bool takesAway = false)
    {
        CatalogRecord.CredentialsEntry? own = credentials is null ? null : new(credentials.User, credentials.Password);
        Store(
            new CatalogRecord
            {
                Topic = new CatalogRecord.TopicEntry(topic.Name, topic.Id, topic.Created, settings, own),
            },
            takesAway
        );
    }

    /// <summary>Forgets a topic and its producers.</summary>
    /// <exception cref="UnstoredException">The disk refuses; it is forgotten all the same.</exception>
    public void Delete(Guid id) => Store(new CatalogRecord { DeletedTopic = id }, takesAway: true);

    /// <summary>
    /// Gives a named producer its id and the next epoch. The id and who has the name are on disk when this returns, and
    /// that no later start gives this epoch again.
    /// </summary>
    /// <param name="topic">The topic.</param>
    /// <param name="name">The producer's name.</param>
    /// <param name="instance">Which one of the name it is; see <see cref="OpenProducerFrame.Instance"/>.</param>
    /// <param name="isReturning">Whether it must have the name already: then it does not take it from another.</param>
    /// <exception cref="BrokerException">
    /// Another has taken the name over: <see cref="ErrorCode.Fenced"/>; or the disk refuses.
    /// </exception>
    public (ulong Id, uint Epoch) NextEpoch(Guid topic, string name, ulong instance, bool isReturning)
    {
        lock (_lock)
        {
            CatalogRecord.ProducerEntry? known = _producers.GetValueOrDefault((topic, name));
            if (isReturning && known?.Instance is { } holder && holder != instance)
                throw new BrokerException(ErrorCode.Fenced, $"A newer producer has taken over the name '{name}'.");
            CatalogRecord.ProducerEntry entry =
                known ?? new CatalogRecord.ProducerEntry(topic, name, ++_lastProducerId, 0);
            uint epoch = _lastEpochs.GetValueOrDefault((topic, name), entry.Epoch) + 1;
            entry = entry with
            {
                Epoch = epoch > entry.Epoch ? entry.Epoch + EpochsNoted : entry.Epoch,
                Instance = instance,
            };
            if (entry != known)
                Store(new CatalogRecord { Producer = entry }, takesAway: false);
            _lastEpochs[(topic, name)] = epoch;
            return (entry.Id, epoch);
        }
    }

    /// <summary>
    /// Tells whether a topic has a named producer of an id now, and may have given it an epoch. What else a log says of
    /// producers is nobody's.
    /// </summary>
    public Func<Guid, ulong, uint, bool> ProducerCheck()
    {
        var producers = new Dictionary<ulong, CatalogRecord.ProducerEntry>();
        lock (_lock)
        {
            foreach (CatalogRecord.ProducerEntry entry in _producers.Values)
                producers[entry.Id] = entry;
        }
        return (topic, id, epoch) =>
            producers.TryGetValue(id, out CatalogRecord.ProducerEntry? known)
            && known.TopicId == topic
            && epoch <= known.Epoch;
    }

    /// <summary>Whether a topic has the named producer, or room for it.</summary>
    public bool HasRoom(Guid topic, string name, int mostNames)
    {
        lock (_lock)
            return _names.GetValueOrDefault(topic) < mostNames || _producers.ContainsKey((topic, name));
    }

    /// <summary>Forgets the named producers of a topic but some. One that comes back after that is a new one.</summary>
    /// <remarks>
    /// No record says so: a name that a start brings back is one that is forgotten again when there is no room, and the
    /// next compaction leaves it out.
    /// </remarks>
    public void ForgetProducers(Guid topic, IReadOnlySet<ulong> but)
    {
        lock (_lock)
        {
            foreach (
                CatalogRecord.ProducerEntry entry in _producers
                    .Values.Where(p => p.TopicId == topic && !but.Contains(p.Id))
                    .ToArray()
            )
            {
                Forget(entry);
            }
        }
    }

    /// <summary>Keeps a user, new or changed.</summary>
    /// <param name="user">The user.</param>
    /// <param name="takesAway">
    /// Whether it may do less from now on, or log in no more as before: then it counts even if the disk refuses it.
    /// </param>
    /// <exception cref="UnstoredException">The disk refuses.</exception>
    public void Put(User user, bool takesAway = false) => Store(new CatalogRecord { User = user }, takesAway);

    /// <summary>Forgets a user and its tokens.</summary>
    /// <exception cref="UnstoredException">The disk refuses; they are forgotten all the same.</exception>
    public void DeleteUser(string name) => Store(new CatalogRecord { DeletedUser = name }, takesAway: true);

    /// <summary>Keeps a token.</summary>
    /// <exception cref="UnstoredException">The disk refuses.</exception>
    public void Put(AccessToken token) => Store(new CatalogRecord { Token = token }, takesAway: false);

    /// <summary>Forgets a token.</summary>
    /// <exception cref="UnstoredException">The disk refuses; it is forgotten all the same.</exception>
    public void DeleteToken(string id) => Store(new CatalogRecord { DeletedToken = id }, takesAway: true);

    /// <summary>What it holds now, as the records of a catalog that holds nothing else.</summary>
    /// <param name="durableTopics">The durable topics that count; of others, it says nothing.</param>
    public IReadOnlyList<CatalogRecord> Capture(IReadOnlySet<Guid> durableTopics)
    {
        bool IsKept(Guid id) =>
            _topics.TryGetValue(id, out CatalogRecord.TopicEntry? topic)
            && (topic.Settings.Kind == TopicKind.Transient || durableTopics.Contains(id));
        lock (_lock)
        {
            return
            [
                .. Live()
                    .Where(r =>
                        (r.Topic is null || IsKept(r.Topic.Id)) && (r.Producer is null || IsKept(r.Producer.TopicId))
                    ),
            ];
        }
    }

    /// <summary>Closes it.</summary>
    /// <exception cref="IOException">What counts could not be stored to the end.</exception>
    public void Dispose()
    {
        _environment.EndHousekeeping(this);
        lock (_lock)
        {
            _disposed = true;
            try
            {
                if (_failure is not null)
                    WriteAnew(Live());
            }
            finally
            {
                _journal.Dispose();
            }
        }
    }

    TimeSpan? IHousekept.Look(DateTimeOffset now)
    {
        lock (_lock)
        {
            if (_disposed || _failure is null)
                return null;
            try
            {
                WriteAnew(Live());
                return null;
            }
            catch (Exception error) when (error is IOException or UnauthorizedAccessException)
            {
                SetFailure(error);
                return RetryAfter;
            }
        }
    }

    private IEnumerable<CatalogRecord> Live() =>
        _topics
            .Values.Select(t => new CatalogRecord { Topic = t })
            .Concat(_producers.Values.Select(p => new CatalogRecord { Producer = p }))
            .Concat(_users.Users.Values.Select(u => new CatalogRecord { User = u }))
            .Concat(_users.Tokens.Values.Select(t => new CatalogRecord { Token = t }));

    private void Store(CatalogRecord record, bool takesAway)
    {
        lock (_lock)
        {
            try
            {
                Write(record);
            }
            catch (Exception error) when (error is IOException or UnauthorizedAccessException)
            {
                bool isUncertain = _journal.HasFailed;
                if (takesAway || isUncertain)
                    SetFailure(error);
                if (!takesAway)
                    throw UnstoredException.Refused(error, isUncertain);
                Apply(record);
                throw UnstoredException.InForce(error);
            }
            Apply(record);
        }
    }

    /// <summary>
    /// Puts a record on the disk: behind the others, or in a new file with everything that counts, when the old one
    /// lacks something or may hold too much.
    /// </summary>
    private void Write(CatalogRecord record)
    {
        if (_failure is null)
        {
            try
            {
                CompactIfLong(); // Before the append: the change does not count yet.
                _journal.Append(record.Write());
                return;
            }
            catch (IOException error) when (_journal.HasFailed)
            {
                SetFailure(error); // The new file below ends the failure.
            }
        }
        WriteAnew(Live().Append(record));
    }

    private void WriteAnew(IEnumerable<CatalogRecord> records)
    {
        _journal.Compact(records.Select(r => (ReadOnlyMemory<byte>)r.Write()));
        SetFailure(null);
    }

    private void SetFailure(Exception? error)
    {
        JournalFailure? before = _failure;
        _failure = error is null ? null : JournalFailure.Of("storing the catalog", error);
        if ((_failure is null) != (before is null)) // Report its begin and its end only.
            _failureChanged(_failure);
        if (_failure is not null && !_disposed)
            _environment.RequestHousekeeping(this, RetryAfter);
    }

    private void CompactIfLong()
    {
        if (_journal.Bytes <= _compactAt)
            return;
        // On a full disk a topic can be deleted to make space.
        _ = _journal.TryCompact(Live().Select(r => (ReadOnlyMemory<byte>)r.Write()));
        _compactAt = Math.Max(_compactAt, 2 * _journal.Bytes);
    }

    private void Apply(CatalogRecord record)
    {
        if (record.Topic is { } topic)
            _topics[topic.Id] = topic;
        if (record.DeletedTopic is { } deleted)
            Forget(deleted);
        if (record.Producer is { } producer)
        {
            Keep(producer);
            _lastProducerId = Math.Max(_lastProducerId, producer.Id);
        }
        _users = record.ApplyTo(_users);
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
