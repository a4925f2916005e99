namespace LightQ.Broker.Topics;

/// <summary>A topic whose partitions are being opened, by several threads.</summary>
internal sealed class TopicOpening(Topic topic)
{
    private readonly Partition?[] _partitions = new Partition?[topic.Settings.Partitions];
    private Exception? _failure;

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
            Interlocked.CompareExchange(ref _failure, e, null);
        }
    }

    /// <summary>Gives the topic its partitions, or, if one could not be opened, none, and deletes the others.</summary>
    public void Complete()
    {
        if (Failure is null)
            topic.Partitions = [.. _partitions.OfType<Partition>()];
        else
            Task.WaitAll(_partitions.OfType<Partition>().Select(p => p.Log.DeleteAsync().AsTask()));
    }
}
