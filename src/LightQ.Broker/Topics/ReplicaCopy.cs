using LightQ.Broker.Logs;
using LightQ.Broker.Replication;
using LightQ.Broker.Streams;
using LightQ.Storage.Files;

namespace LightQ.Broker.Topics;

/// <summary>
/// Gives a durable topic of this node replicas: copies its journals into streams, and then has the catalog say that it
/// has them. The topic keeps its id, offsets, groups and named producers.
/// </summary>
/// <remarks>
/// It is served while most is copied. Then its streams end, as when a partition changes hands, and the rest is copied:
/// from there on either the catalog's record is stored, and any node leads the partitions, or they are opened again as
/// they were, and the streams removed.
/// </remarks>
internal sealed class ReplicaCopy(
    ReplicaSource source,
    Topic topic,
    TopicSettings settings,
    CancellationToken cancellationToken
)
{
    private const string Reason = "the topic is being given replicas";
    private static readonly TimeSpan Poll = TimeSpan.FromMilliseconds(1);

    private readonly Partition[] _partitions = [.. topic.Partitions];
    private StreamFill?[] _fills = [];
    private bool _isEnded;

    /// <summary>Bytes of messages that are in the streams.</summary>
    public long CopiedBytes => _fills.Sum(fill => fill?.CopiedBytes ?? 0);

    /// <summary>About how many there are.</summary>
    public long TotalBytes => _partitions.Sum(p => p.Log.StoredBytes);

    /// <summary>Does it.</summary>
    /// <exception cref="BrokerException">It has come to nothing, and the topic is as it was.</exception>
    public async Task RunAsync()
    {
        try
        {
            await CopyAsync().ConfigureAwait(false);
        }
        catch (Exception e)
            when (e
                    is BrokerException
                        or ReplicationException
                        or IOException
                        or UnauthorizedAccessException
                        or OperationCanceledException
            )
        {
            await UndoAsync().ConfigureAwait(false);
            source.Options().StorageEvents?.OnRefused($"replicas of the topic {topic.Name}", e);
            throw Explain(e);
        }
        finally
        {
            foreach (StreamFill? fill in _fills)
                fill?.Dispose();
        }
    }

    private async Task CopyAsync()
    {
        ReplicationOptions replication = source.Replication;
        replication.Demand(settings.MaxBatchBytes);
        await replication.DemandSyncAsync(settings.Replicas, cancellationToken).ConfigureAwait(false);
        _fills = new StreamFill?[_partitions.Length];
        for (int i = 0; i < _partitions.Length; i++)
        {
            IReplicatedStream stream = await source
                .Replicas.CreateEmptyAsync(topic, (uint)i, settings.Replicas, cancellationToken)
                .ConfigureAwait(false);
            var options = new ReplicatedLogOptions
            {
                MaxBatchBytes = settings.MaxBatchBytes,
                MaxEntryBytes = replication.Engine.MaxEntryBytes,
            };
            _fills[i] = new StreamFill(stream, _partitions[i].Log, options, replication.Node, source.Time);
            await _fills[i]!.CopyAsync(cancellationToken).ConfigureAwait(false);
        }
        await EndServingAsync().ConfigureAwait(false);
        for (int i = 0; i < _partitions.Length; i++)
            await FinishAsync(_partitions[i], _fills[i]!).ConfigureAwait(false);
        await StoreAsync().ConfigureAwait(false);
        source.Groups.ForgetDisk(topic);
    }

    private async Task EndServingAsync()
    {
        _isEnded = true;
        var refusal = new PartitionRefusal(ErrorCode.NotLeader, Reason, Reason);
        foreach (Partition partition in _partitions)
        {
            topic.Put(
                new Partition(topic, partition.Index, source.Time) { Refusal = refusal, Log = new RefusedLog(refusal) }
            );
            partition.MarkLost();
            partition.CloseAll(new StreamClose(ErrorCode.NotLeader, Reason));
        }
        foreach (Partition partition in _partitions)
        {
            await partition.Emptied().ConfigureAwait(false);
            partition.EndHousekeeping();
            partition.Delays?.Stop();
            source.Groups.Keep(partition);
            source.Groups.End(partition);
        }
    }

    /// <summary>Copies what has come meanwhile, and closes the journal when nothing is left.</summary>
    private async Task FinishAsync(Partition partition, StreamFill fill)
    {
        byte[] state = [];
        Task? closing = null;
        while (closing is null)
        {
            await fill.CopyAsync(cancellationToken).ConfigureAwait(false);
            lock (partition.AppendLock)
            {
                if (partition.Log.EndOffset == fill.NextOffset)
                {
                    state = partition.SaveState();
                    closing = partition.Log.DisposeAsync().AsTask();
                    continue;
                }
            }
            partition.Log.Flush(); // It is not on the disk yet.
            await Task.Delay(Poll, source.Time, cancellationToken).ConfigureAwait(false);
        }
        await closing.ConfigureAwait(false);
        byte[] snapshot = PartitionState.Encode(source.Groups.ForStream(partition), state);
        await fill.EndAsync(snapshot, cancellationToken).ConfigureAwait(false);
    }

    private async Task StoreAsync()
    {
        try
        {
            source.Catalog.SetReplicas(topic.Id, settings.Replicas);
        }
        catch (UnstoredException e) when (e.Outcome is { } outcome)
        {
            // Until it is known nobody may serve the topic.
            if (!await outcome.WaitAsync(cancellationToken).ConfigureAwait(false))
                throw;
        }
    }

    private async Task UndoAsync()
    {
        if (_isEnded)
            await ReopenAsync().ConfigureAwait(false);
        // While the broker stops, what is stored may count yet. What does not, any node removes later.
        if (!cancellationToken.IsCancellationRequested)
            await source.Replicas.RemoveStreamsAsync(topic).ConfigureAwait(false);
    }

    private async Task ReopenAsync()
    {
        foreach (Partition partition in _partitions)
        {
            partition.EndHousekeeping();
            partition.Delays?.Stop();
            try
            {
                await partition.Log.DisposeAsync().ConfigureAwait(false);
            }
            catch (IOException e)
            {
                source.Options().StorageEvents?.OnRefused($"the files of the topic {topic.Name}", e);
            }
        }
        if (topic.Deleted.IsCompleted)
        {
            source.Opener.Remove(topic.Id);
            return;
        }
        if (cancellationToken.IsCancellationRequested)
            return;
        source.Opener.Recover([topic], source.Catalog.ProducerCheck());
        foreach (Partition partition in topic.Partitions)
        {
            topic.Put(partition);
            source.Serve(partition);
        }
    }

    private BrokerException Explain(Exception reason)
    {
        (ErrorCode code, string why) = reason switch
        {
            BrokerException e => (e.Code, e.Message),
            ReplicationException e => (ErrorCode.Unavailable, e.Message),
            OperationCanceledException => (ErrorCode.ShuttingDown, "the broker is stopping"),
            _ => (DiskError.IsFull(reason) ? ErrorCode.DiskFull : ErrorCode.Internal, DiskError.Describe(reason)),
        };
        return new BrokerException(code, $"The topic '{topic.Name}' was not given replicas, and is as before: {why}");
    }
}
