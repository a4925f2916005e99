using System.Collections.Immutable;
using LightQ.Broker.Users;
using LightQ.Protocol.Frames;
using LightQ.Storage;

namespace LightQ.Broker.Topics;

/// <summary>A topic: a name, settings, and one log a partition.</summary>
public sealed class Topic
{
    private readonly Lock _ownershipLock = new();
    private ImmutableHashSet<string> _groupNames = ImmutableHashSet<string>.Empty;
    private bool _hasAllGroups;
    private int _ownership;
    private TaskCompletionSource? _deletion;
    private volatile Task _idsRead = Task.CompletedTask;

    internal Topic(
        string name,
        Guid id,
        DateTimeOffset created,
        TopicSettings settings,
        TopicCredentials? credentials = null,
        uint maker = UserNumber.None
    )
    {
        Maker = maker;
        Name = name;
        Id = id;
        Created = created;
        Settings = settings;
        Credentials = credentials;
    }

    /// <summary>The name.</summary>
    public string Name { get; }

    /// <summary>Server-made; a topic made again under the same name has another.</summary>
    public Guid Id { get; }

    /// <summary>When it was created.</summary>
    public DateTimeOffset Created { get; }

    /// <summary>
    /// The <see cref="UserNumber"/> of whoever has made it, in whose share of all topics it counts; nobody's for one
    /// that the broker, or an earlier version, made.
    /// </summary>
    public uint Maker { get; }

    /// <summary>The settings in force.</summary>
    public TopicSettings Settings { get; internal set; }

    /// <summary>The topic's own user; null for a topic without one.</summary>
    public TopicCredentials? Credentials { get; internal set; }

    /// <summary>All partitions, those that could not be opened and are refused among them.</summary>
    public ImmutableArray<Partition> Partitions { get; internal set; } = [];

    /// <summary>
    /// Why the topic, or the first partition that does so, takes no more; empty while all work, here or on the nodes
    /// that lead them.
    /// </summary>
    public string Failure =>
        Partitions.FirstOrDefault(p => p.Log.Failure is not null && p.Refusal is not { IsElsewhere: true })
            is { } failed
            ? Describe(failed.Index, failed.Log.Failure!)
            : "";

    /// <summary>Whether a partition could not be opened. What is to hold for all keys cannot be done then.</summary>
    public bool IsIncomplete => Partitions.Any(p => p.Refusal is not null);

    /// <summary>Likewise, but for partitions that are other nodes' to open.</summary>
    internal bool IsBroken => Partitions.Any(p => p.IsBroken);

    /// <summary>Whether other nodes serve all of its partitions.</summary>
    public bool IsElsewhere => Partitions.All(p => p.Refusal is { IsElsewhere: true });

    /// <summary>Whether one of its partitions takes nothing for want of space, which passes.</summary>
    public bool IsDiskFull => Partitions.Any(p => p.Log.IsDiskFull);

    /// <summary>
    /// What was found damaged while the topic was served; empty when nothing was. Subscribers get a gap there.
    /// </summary>
    public IEnumerable<(uint Partition, JournalDamage Damage)> Damage =>
        Partitions.SelectMany(p => p.Log.Damage.Select(d => (p.Index, d)));

    /// <summary>Completes when the topic is deleted.</summary>
    public Task Deleted => Deletion.Task;

    /// <summary>
    /// Completes when windows of message ids that settings made new or longer hold what the logs have; until then an id
    /// is known if its message came since. Fails when the disk does not take within 30 s what came before, or refuses
    /// to read.
    /// </summary>
    public Task IdsRead => _idsRead is { IsCompleted: false } reading ? reading : Task.CompletedTask;

    /// <summary>What the settings that were applied last began; fails as <see cref="IdsRead"/> does.</summary>
    internal Task LastApplied => _idsRead;

    /// <summary>Made when a caller first asks: few watch a topic.</summary>
    private TaskCompletionSource Deletion =>
        LazyInitializer.EnsureInitialized(
            ref _deletion,
            static () => new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously)
        );

    /// <summary>
    /// Puts a partition in the place of the one before: it is owned, or no longer, and may have other groups.
    /// </summary>
    internal void Put(Partition partition)
    {
        lock (_ownershipLock)
        {
            Partitions = Partitions.SetItem((int)partition.Index, partition);
            (_hasAllGroups, _groupNames) = (false, ImmutableHashSet<string>.Empty);
            _ownership++;
        }
        // Its settings are those of when it was opened.
        if (partition.Apply(Settings) is { IsCompletedSuccessfully: false } reading)
            Reads(reading);
    }

    /// <summary>
    /// The names of all groups that the topic has; null while not all are in memory. When they are, say so by
    /// <see cref="FoundAllGroups"/>.
    /// </summary>
    internal ImmutableHashSet<string>? AllGroups(out int ownership)
    {
        lock (_ownershipLock)
        {
            ownership = _ownership;
            return _hasAllGroups ? _groupNames : null;
        }
    }

    /// <summary>All groups are in memory, unless a partition was put in since; from then on they are.</summary>
    internal void FoundAllGroups(int ownership)
    {
        lock (_ownershipLock)
            _hasAllGroups |= ownership == _ownership;
    }

    internal void AddGroup(string name) =>
        ImmutableInterlocked.Update(ref _groupNames, static (names, added) => names.Add(added), name);

    internal void RemoveGroup(string name) =>
        ImmutableInterlocked.Update(ref _groupNames, static (names, removed) => names.Remove(removed), name);

    /// <summary>Finds a partition.</summary>
    /// <exception cref="BrokerException">
    /// There is none of that number, <see cref="ErrorCode.UnknownPartition"/>, or it could not be opened.
    /// </exception>
    public Partition GetPartition(uint partition)
    {
        if (partition >= Partitions.Length)
        {
            throw new BrokerException(
                ErrorCode.UnknownPartition,
                $"The topic '{Name}' has no partition {partition}; allowed: 0 to {Partitions.Length - 1}."
            );
        }

        Partition found = Partitions[(int)partition];
        found.ThrowIfRefused();
        return found;
    }

    /// <summary>Demands that all partitions could be opened.</summary>
    /// <exception cref="BrokerException">One could not.</exception>
    internal void ThrowIfIncomplete()
    {
        foreach (Partition partition in Partitions)
            partition.ThrowIfRefused();
    }

    /// <summary>Demands that all partitions could be opened, but for those that are other nodes' to open.</summary>
    /// <exception cref="BrokerException">One could not.</exception>
    internal void ThrowIfBroken()
    {
        foreach (Partition partition in Partitions.Where(p => p.IsBroken))
            partition.ThrowIfRefused();
    }

    /// <summary>The ids of the named producers that any of its partitions remembers.</summary>
    /// <exception cref="BrokerException">One could not be opened, so that whom it remembers is not known.</exception>
    internal HashSet<ulong> RememberedProducers()
    {
        ThrowIfIncomplete();
        HashSet<ulong> remembered = [];
        foreach (Partition partition in Partitions)
        {
            lock (partition.AppendLock)
                remembered.UnionWith(partition.NamedProducers.Ids);
        }
        return remembered;
    }

    /// <summary>The partition with the fewest producers; the lowest of those.</summary>
    /// <exception cref="BrokerException">None could be opened.</exception>
    internal Partition LeastUsed() =>
        Partitions.Where(p => p.Refusal is null).MinBy(p => p.Producers.Length) ?? GetPartition(0);

    /// <summary>The partition that a subscription is of: all of them are one only where there is one.</summary>
    internal Partition ReadBy(uint partition)
    {
        if (partition != OpenProducerFrame.AnyPartition)
            return GetPartition(partition);
        return Partitions.Length == 1
            ? GetPartition(0)
            : throw new BrokerException(
                ErrorCode.UnknownPartition,
                $"The topic '{Name}' has {Partitions.Length} partitions, and a subscription reads one: open one stream "
                    + $"per partition."
            );
    }

    /// <summary>A failure, with the partition where there are several.</summary>
    /// <param name="partition">The partition that is meant.</param>
    /// <param name="failure">What it is.</param>
    public string Describe(uint partition, string failure) =>
        Settings.Partitions == 1 ? failure : $"partition {partition}: {failure}";

    /// <summary>Makes settings count. One caller at a time.</summary>
    /// <returns>Completes when <see cref="IdsRead"/> does.</returns>
    internal Task Apply(TopicSettings settings)
    {
        ImmutableArray<Partition> partitions;
        // A partition that is put in after this takes them itself.
        lock (_ownershipLock)
        {
            Settings = settings;
            partitions = Partitions;
        }
        return Reads([.. partitions.Select(partition => partition.Apply(settings))]);
    }

    /// <returns>Completes when <see cref="IdsRead"/> does.</returns>
    private Task Reads(params Task[] ids)
    {
        lock (_ownershipLock)
            return _idsRead = Task.WhenAll([IdsRead, .. ids]);
    }

    internal void MarkDeleted() => Deletion.TrySetResult();
}
