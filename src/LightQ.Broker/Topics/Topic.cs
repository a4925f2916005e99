using System.Collections.Immutable;
using LightQ.Protocol;
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

    /// <summary>A failure, with the partition where there are several.</summary>
    internal string Describe(uint partition, string failure) => Settings.Partitions == 1 ? failure : $"partition {partition}: {failure}";

    internal void MarkDeleted() => Deletion.TrySetResult();
}
