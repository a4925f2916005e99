using System.Collections.Concurrent;
using LightQ.Broker.Catalog;
using LightQ.Broker.Groups;
using LightQ.Broker.Streams;

namespace LightQ.Broker.Topics;

/// <summary>Ends topics that are gone, and removes their groups and files.</summary>
/// <remarks>
/// While the catalog on the disk may still know of a topic its files stay: a start that finds it there must find them.
/// </remarks>
internal sealed class TopicRemover(
    TopicCatalog catalog,
    PartitionOpener opener,
    GroupRegistry groups,
    Replicas replicas
) : IAsyncDisposable
{
    private readonly ConcurrentQueue<Topic> _waiting = new();
    private readonly ConcurrentDictionary<Topic, Task> _ending = new();
    private readonly SemaphoreSlim _removing = new(1);
    private volatile bool _isClosed;

    /// <summary>Ends the streams of a topic, and removes it.</summary>
    public async Task EndAsync(Topic topic)
    {
        var ended = new TaskCompletionSource();
        _ending[topic] = ended.Task;
        try
        {
            topic.MarkDeleted();
            await replicas.EndAsync(topic).ConfigureAwait(false);
            foreach (Partition partition in topic.Partitions)
                partition.CloseAll(new StreamClose(ErrorCode.TopicDeleted, $"the topic '{topic.Name}' was deleted"));
            foreach (Partition partition in topic.Partitions)
            {
                await partition.Emptied().ConfigureAwait(false);
                partition.EndHousekeeping();
            }
            foreach (Partition partition in topic.Partitions)
                partition.Delays?.Stop();
            await RemoveAsync(topic).ConfigureAwait(false);
        }
        finally
        {
            _ending.TryRemove(topic, out _);
            ended.SetResult();
        }
    }

    /// <summary>Removes a topic without streams, or leaves it to <see cref="RemoveWaitingAsync"/>.</summary>
    public Task RemoveAsync(Topic topic)
    {
        _waiting.Enqueue(topic);
        return RemoveWaitingAsync(); // The catalog may just have been stored again.
    }

    /// <summary>Removes what waits, if the catalog on the disk is what counts.</summary>
    public async Task RemoveWaitingAsync()
    {
        await _removing.WaitAsync().ConfigureAwait(false);
        try
        {
            while (!_isClosed && catalog.Failure is null && _waiting.TryDequeue(out Topic? topic))
            {
                foreach (Partition partition in topic.Partitions)
                    groups.Remove(partition);
                await Task.WhenAll(topic.Partitions.Select(p => p.Log.DeleteAsync().AsTask())).ConfigureAwait(false);
                opener.Remove(topic.Id);
                await replicas.RemoveAsync(topic).ConfigureAwait(false);
            }
        }
        finally
        {
            _removing.Release();
        }
    }

    /// <summary>Waits for the topics that are about to end, and closes the logs that wait; their files stay.</summary>
    public async ValueTask DisposeAsync()
    {
        await Task.WhenAll(_ending.Values).ConfigureAwait(false);
        await _removing.WaitAsync().ConfigureAwait(false);
        _isClosed = true;
        _removing.Release();
        await Task.WhenAll(_waiting.SelectMany(t => t.Partitions).Select(p => p.Log.DisposeAsync().AsTask()))
            .ConfigureAwait(false);
    }
}
