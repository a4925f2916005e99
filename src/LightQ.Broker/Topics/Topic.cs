using System.Collections.Immutable;
using LightQ.Protocol;
using LightQ.Protocol.Frames;
using LightQ.Storage;

namespace LightQ.Broker.Topics;

/// <summary>A topic: a name, settings, and one log a partition.</summary>
public sealed class Topic
{
    internal Topic(string name, Guid id, DateTimeOffset created, TopicSettings settings, TopicCredentials? credentials = null)
    {
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

    /// <summary>The settings in force.</summary>
    public TopicSettings Settings { get; internal set; }

    /// <summary>The topic's own user; null for a topic without one.</summary>
    public TopicCredentials? Credentials { get; internal set; }

    /// <summary>The partitions; empty when the topic could not be opened.</summary>
    public ImmutableArray<Partition> Partitions { get; internal set; } = [];

    /// <summary>Why the topic could not be opened, or why one of its partitions takes no more; empty while all work.</summary>
    public string Failure
    {
        get => _openFailure.Length != 0 ? _openFailure : Partitions.FirstOrDefault(p => p.Log.Failure is not null) is { } failed ? Describe(failed.Index, failed.Log.Failure!) : "";
        internal set => _openFailure = value;
    }

    /// <summary>What was found damaged while the topic was served; empty when nothing was. Subscribers get a gap there.</summary>
    public IEnumerable<(uint Partition, JournalDamage Damage)> Damage => Partitions.SelectMany(p => p.Log.Damage.Select(d => (p.Index, d)));

    /// <summary>How a request to a topic that could not be opened is answered.</summary>
    internal ErrorCode FailureCode { get; set; } = ErrorCode.TopicFailed;

    /// <summary>Completes when the topic is deleted.</summary>
    public Task Deleted => Deletion.Task;

    /// <summary>Made when somebody asks: few watch a topic.</summary>
    private TaskCompletionSource Deletion => LazyInitializer.EnsureInitialized(ref _deletion, static () => new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously));

    private TaskCompletionSource? _deletion;
    private string _openFailure = "";

    /// <summary>Finds a partition.</summary>
    /// <exception cref="BrokerException">There is none of that number, <see cref="ErrorCode.UnknownPartition"/>, or the topic could not be opened.</exception>
    public Partition GetPartition(uint partition)
    {
        ThrowIfNotOpened();
        return partition < Partitions.Length
            ? Partitions[(int)partition]
            : throw new BrokerException(ErrorCode.UnknownPartition, $"The topic '{Name}' has no partition {partition}; allowed: 0 to {Partitions.Length - 1}.");
    }

    /// <summary>The partition with the fewest producers; the lowest of those.</summary>
    internal Partition LeastUsed()
    {
        ThrowIfNotOpened();
        return Partitions.MinBy(p => p.Producers.Length)!;
    }

    /// <summary>The partition that a subscription is of: all of them are one only where there is one.</summary>
    internal Partition ReadBy(uint partition)
    {
        if (partition != OpenProducerFrame.AnyPartition)
            return GetPartition(partition);
        ThrowIfNotOpened();
        return Partitions.Length == 1
            ? Partitions[0]
            : throw new BrokerException(ErrorCode.UnknownPartition, $"The topic '{Name}' has {Partitions.Length} partitions and a subscription is of one: open one stream per partition.");
    }

    /// <summary>A failure, with the partition where there are several.</summary>
    internal string Describe(uint partition, string failure) => Settings.Partitions == 1 ? failure : $"partition {partition}: {failure}";

    internal void MarkDeleted() => Deletion.TrySetResult();

    private void ThrowIfNotOpened()
    {
        if (Partitions.IsEmpty)
            throw new BrokerException(FailureCode, Failure);
    }
}
