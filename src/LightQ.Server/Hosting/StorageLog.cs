using LightQ.Broker;
using LightQ.Broker.DeadLetters;
using LightQ.Broker.Groups;
using LightQ.Broker.Topics;
using LightQ.Server.Security;
using LightQ.Storage;
using Microsoft.Extensions.Logging;

namespace LightQ.Server.Hosting;

/// <summary>
/// Logs what the disk does to the broker, and records events that concern rights in the audit log, too.
/// </summary>
internal sealed class StorageLog(ILogger logger, string directory) : IStorageEvents
{
    private volatile ISecurityEvents? _events;

    /// <summary>Gets the events that concern rights; null while the broker starts.</summary>
    public ISecurityEvents? Events
    {
        set => _events = value;
    }

    /// <inheritdoc/>
    public void OnDamaged(Partition partition, JournalDamage damage) =>
        ServerLog.TopicDamaged(
            logger,
            partition.Topic.Name,
            partition.Index,
            damage.FirstOffset,
            damage.LastOffset,
            damage.File,
            damage.Detail,
            directory
        );

    /// <inheritdoc/>
    public void OnRebuilt(string what) => ServerLog.Rebuilt(logger, what);

    /// <inheritdoc/>
    public void OnUnknownTopic(string directory) => ServerLog.UnknownTopic(logger, directory);

    /// <inheritdoc/>
    public void OnTopicFailed(Partition partition, JournalFailure failure) =>
        ServerLog.TopicFailed(
            logger,
            partition.Topic.Name,
            $"partition {partition.Index}: {failure.Exception.Message}"
        );

    /// <inheritdoc/>
    public void OnDiskFull(Partition partition, bool isFull)
    {
        if (isFull)
            ServerLog.TopicFull(logger, partition.Topic.Name, partition.Index);
        else
            ServerLog.TopicFullNoMore(logger, partition.Topic.Name, partition.Index);
    }

    /// <inheritdoc/>
    public void OnGrown(Partition partition, long bytes) =>
        ServerLog.TopicGrown(logger, partition.Topic.Name, partition.Index, bytes);

    /// <inheritdoc/>
    public void OnHeld(Partition partition, long bytes, RetentionHold hold)
    {
        if (hold.Group.Length == 0)
            ServerLog.TopicHeldByNobody(logger, partition.Topic.Name, partition.Index, bytes);
        else if (hold.IsDeadLetter)
            ServerLog.TopicHeldByLetters(logger, partition.Topic.Name, partition.Index, bytes, hold.Group, hold.Offset);
        else
            ServerLog.TopicHeld(logger, partition.Topic.Name, partition.Index, bytes, hold.Group, hold.Offset);
    }

    /// <inheritdoc/>
    public void OnIdsForgotten(Partition partition, long count) =>
        ServerLog.IdsForgotten(
            logger,
            partition.Topic.Name,
            partition.Index,
            count,
            partition.Topic.Settings.DedupMaxIds,
            partition.Topic.Settings.DedupWindow
        );

    /// <inheritdoc/>
    public void OnGroupEnded(Topic topic, string group, TimeSpan unused) =>
        ServerLog.GroupEnded(logger, group, topic.Name, unused);

    /// <inheritdoc/>
    public void OnDeadLettered(
        Partition partition,
        string group,
        string deadTopic,
        DeadLettered letters,
        long leftOut
    ) =>
        ServerLog.DeadLettered(
            logger,
            letters.Count,
            partition.Topic.Name,
            partition.Index,
            letters.First,
            group,
            deadTopic,
            letters.Deliveries,
            letters.Reason.ReplaceLineEndings(" "),
            leftOut
        );

    /// <inheritdoc/>
    public void OnStateFailed(StoredState state, JournalFailure? failure)
    {
        switch (state, failure)
        {
            case (StoredState.Catalog, null):
                ServerLog.CatalogStored(logger);
                Raise(SecurityAction.CatalogStored, "");
                break;
            case (StoredState.Catalog, _):
                ServerLog.CatalogFailed(logger, failure.Exception.Message);
                Raise(SecurityAction.CatalogFailed, failure.Reason);
                break;
            case (StoredState.ClusterCatalog, null):
                ServerLog.ClusterCatalogRead(logger);
                break;
            case (StoredState.ClusterCatalog, _):
                ServerLog.ClusterCatalogFailed(logger, failure.Exception.Message);
                break;
            case (_, null):
                ServerLog.PositionsStored(logger);
                break;
            default:
                ServerLog.PositionsFailed(logger, failure.Exception.Message);
                break;
        }
    }

    /// <inheritdoc/>
    public void OnPartitionLost(Partition partition, string reason) =>
        ServerLog.PartitionLost(logger, partition.Topic.Name, partition.Index, reason);

    /// <inheritdoc/>
    public void OnRefused(string what, Exception error) => ServerLog.DiskRefused(logger, what, error.Message);

    /// <summary>Nobody waits for it: the disk is what has trouble.</summary>
    private void Raise(SecurityAction action, string detail) =>
        _ = _events?.RaiseAsync(new SecurityEvent(action, "broker", Origin.Broker, Detail: detail));
}
