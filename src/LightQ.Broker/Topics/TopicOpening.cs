using LightQ.Broker.Logs;
using LightQ.Protocol;
using LightQ.Storage;

namespace LightQ.Broker.Topics;

/// <summary>A topic whose partitions are being opened, by several threads: it gets all of them or none.</summary>
internal sealed class TopicOpening(Topic topic)
{
    private readonly Partition?[] _partitions = new Partition?[topic.Settings.Partitions];
    private Exception? _failure;
    private int _failedIndex;

    /// <summary>The topic.</summary>
    public Topic Topic => topic;

    /// <summary>Why a partition could not be opened, the first that failed; null while all could.</summary>
    public Exception? Failure => Volatile.Read(ref _failure);

    /// <summary>Opens one partition, unless another one has failed.</summary>
    public void Open(int index, Func<Topic, int, Partition> open)
    {
        if (Failure is not null)
            return;
        try
        {
            _partitions[index] = open(topic, index);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            if (Interlocked.CompareExchange(ref _failure, e, null) is null)
                _failedIndex = index;
        }
    }

    /// <summary>Gives the topic its partitions, or closes those that could be opened.</summary>
    /// <param name="isNew">Whether the topic is being created: then their files go, too.</param>
    public void Complete(bool isNew)
    {
        if (Failure is not { } failure)
        {
            topic.Partitions = [.. _partitions.OfType<Partition>()];
            return;
        }
        topic.Failure = topic.Describe((uint)_failedIndex, failure.Message);
        topic.FailureCode = failure is JournalCorruptException or JournalMissingException ? ErrorCode.CorruptData : ErrorCode.TopicFailed;
        IEnumerable<ITopicLog> opened = _partitions.OfType<Partition>().Select(p => p.Log);
        Task.WaitAll(isNew ? opened.Select(l => l.DeleteAsync().AsTask()) : opened.Select(l => l.DisposeAsync().AsTask()));
    }
}
