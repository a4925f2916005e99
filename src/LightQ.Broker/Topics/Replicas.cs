using System.Collections.Concurrent;
using LightQ.Broker.Groups;
using LightQ.Broker.Logs;
using LightQ.Broker.Replication;

namespace LightQ.Broker.Topics;

/// <summary>The topics with replicas: makes their streams, keeps their partitions owned, removes them.</summary>
internal sealed class Replicas(
    PartitionOpener opener,
    GroupRegistry groups,
    Action<Partition> serve,
    Func<BrokerOptions> broker,
    TimeProvider time
) : IAsyncDisposable
{
    /// <summary>
    /// A new topic waits so long until its partitions are owned. The engine elects in a second or two.
    /// </summary>
    private static readonly TimeSpan LongestCreation = TimeSpan.FromSeconds(15);
    private readonly ConcurrentDictionary<Guid, ReplicaKeeper[]> _keepers = new();

    /// <summary>Makes the streams of a new topic; those that are there already are its own.</summary>
    /// <exception cref="BrokerException">The engine cannot, or the broker has none.</exception>
    public void Create(Topic topic)
    {
        ReplicationOptions replication = broker().Replication!; // CreateTopic has looked.
        using var patience = new CancellationTokenSource(LongestCreation);
        Wait(
            topic,
            async () =>
            {
                replication.Demand(topic.Settings.MaxBatchBytes);
                await replication.DemandSyncAsync(topic.Settings.Replicas, patience.Token).ConfigureAwait(false);
                for (uint i = 0; i < topic.Settings.Partitions; i++)
                {
                    await replication
                        .Engine.CreateStreamAsync(
                            replication.StreamOf(topic.Id, i),
                            (int)topic.Settings.Replicas,
                            patience.Token
                        )
                        .ConfigureAwait(false);
                }
            }
        );
        topic.Partitions = [.. Enumerable.Range(0, (int)topic.Settings.Partitions).Select(i => Waiting(topic, i))];
    }

    /// <summary>Begins to keep a topic's partitions owned. One that was just made is owned when this returns.</summary>
    public void Begin(Topic topic)
    {
        bool isNew = !topic.Partitions.IsEmpty;
        if (!isNew)
        {
            topic.Partitions = [.. Enumerable.Range(0, (int)topic.Settings.Partitions).Select(i => Waiting(topic, i))];
            if (broker().Replication is null)
                return; // Its partitions say so.
        }
        ReplicaKeeper[] keepers =
        [
            .. topic.Partitions.Select(partition => new ReplicaKeeper(
                topic,
                partition.Index,
                opener,
                groups,
                serve,
                () => broker().StorageEvents,
                time
            )),
        ];
        _keepers[topic.Id] = keepers;
        foreach (ReplicaKeeper keeper in keepers)
            keeper.Begin();
        if (isNew)
            // It is served all the same when that takes longer: clients try again.
            Task.WaitAll([.. keepers.Select(keeper => keeper.Owned)], LongestCreation);
    }

    /// <summary>Hands a topic's partitions over, before their streams are ended.</summary>
    public async Task EndAsync(Topic topic)
    {
        if (!_keepers.TryRemove(topic.Id, out ReplicaKeeper[]? keepers))
            return;
        foreach (ReplicaKeeper keeper in keepers)
            await keeper.DisposeAsync().ConfigureAwait(false);
    }

    /// <summary>Removes the streams of a topic that is gone.</summary>
    public async Task RemoveAsync(Topic topic)
    {
        if (!topic.Settings.IsReplicated || broker().Replication is not { } replication)
            return;
        using var patience = new CancellationTokenSource(LongestCreation);
        try
        {
            for (uint i = 0; i < topic.Settings.Partitions; i++)
            {
                await replication
                    .Engine.DeleteStreamAsync(replication.StreamOf(topic.Id, i), patience.Token)
                    .ConfigureAwait(false);
            }
        }
        catch (Exception e) when (e is ReplicationException or OperationCanceledException)
        {
            broker().StorageEvents?.OnRefused($"the streams of the deleted topic {topic.Name}", e);
        }
    }

    /// <summary>Hands every partition over.</summary>
    public async ValueTask DisposeAsync()
    {
        await Task.WhenAll(_keepers.Values.SelectMany(keepers => keepers).Select(k => k.DisposeAsync().AsTask()))
            .ConfigureAwait(false);
        _keepers.Clear();
    }

    private void Wait(Topic topic, Func<Task> make)
    {
        try
        {
            Task.Run(make).GetAwaiter().GetResult();
        }
        catch (Exception e) when (e is ReplicationException or OperationCanceledException)
        {
            RemoveAsync(topic).GetAwaiter().GetResult(); // Those that were made.
            throw new BrokerException(
                ErrorCode.Internal,
                $"The streams of the topic '{topic.Name}' could not be made: {e.Message}"
            );
        }
    }

    private Partition Waiting(Topic topic, int index)
    {
        string reason = broker().Replication is null
            ? "this broker has no cluster, and the topic has replicas"
            : "the partition is being claimed";
        var refusal = new PartitionRefusal(ErrorCode.NotLeader, reason, reason);
        return new Partition(topic, (uint)index, time) { Refusal = refusal, Log = new RefusedLog(refusal) };
    }
}
