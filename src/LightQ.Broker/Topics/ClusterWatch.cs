using LightQ.Broker.Cluster;
using LightQ.Broker.Replication;
using LightQ.Scheduling;

namespace LightQ.Broker.Topics;

/// <summary>
/// Looks after what a node of a cluster depends on: whether it can serve what it leads, and how the engine is.
/// </summary>
/// <param name="replication">The cluster.</param>
/// <param name="members">The node.</param>
/// <param name="topics">The topics.</param>
/// <param name="time">The clock.</param>
internal sealed class ClusterWatch(
    ReplicationOptions replication,
    ClusterMembers members,
    Func<IEnumerable<Topic>> topics,
    TimeProvider time
) : IAsyncDisposable
{
    private EngineWatch? _engine;

    private IEnumerable<Partition> Owned =>
        topics().Where(t => t.Settings.IsReplicated).SelectMany(t => t.Partitions).Where(p => p.Refusal is null);

    /// <summary>Begins to look.</summary>
    /// <param name="housekeeping">Looks at the node itself.</param>
    /// <param name="freeBytes">What the disk still takes.</param>
    /// <param name="catalogFailure">Why the catalog is not read; null when it is.</param>
    /// <returns>To be called when the disk has filled, or has room again.</returns>
    public Action Begin(HousekeepingSchedule housekeeping, Func<long> freeBytes, Func<string?> catalogFailure)
    {
        var fitness = new NodeFitness(members, freeBytes, topics, catalogFailure, time);
        housekeeping.Request(fitness, TimeSpan.Zero);
        _engine = new EngineWatch(
            replication,
            Streams,
            () => Owned.Select(p => p.Log.FullReason).FirstOrDefault(IsThere),
            time
        );
        _engine.Begin();
        return () => housekeeping.Request(fitness, TimeSpan.Zero);
    }

    /// <summary>Ends that.</summary>
    public ValueTask DisposeAsync() => _engine?.DisposeAsync() ?? ValueTask.CompletedTask;

    private static bool IsThere(string? reason) => reason is not null;

    private string[] Streams() =>
        [.. Owned.Select(p => replication.StreamOf(p.Topic.Id, p.Index)).Order(StringComparer.Ordinal)];
}
