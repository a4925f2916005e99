using LightQ.Broker;
using LightQ.Broker.Cluster;
using LightQ.Broker.Replication;
using LightQ.Protocol.Control;
using Topic = LightQ.Broker.Topics.Topic;

namespace LightQ.Server.Control;

/// <summary>Mends what the engine has lost from what the brokers hold.</summary>
internal sealed class ClusterRepairs(LightQBroker broker)
{
    /// <summary>Says which partitions of a topic have lost something, and which node has the longest copy.</summary>
    public async Task<List<PartitionRepair>> PlanAsync(Topic topic, CancellationToken cancellationToken)
    {
        if (!topic.Settings.IsReplicated)
        {
            throw new BrokerException(
                ErrorCode.NotSupported,
                $"The topic '{topic.Name}' has no replicas: 'lightq journal repair' mends its journals."
            );
        }
        List<PartitionRepair> plan = [];
        for (uint i = 0; i < topic.Settings.Partitions; i++)
        {
            IReadOnlyDictionary<string, PartitionCopy> copies = await broker
                .Replicas.InspectAsync(topic, i, cancellationToken)
                .ConfigureAwait(false);
            if (Find(copies) is { } repair)
            {
                repair.Partition = i;
                plan.Add(repair);
            }
        }
        return plan;
    }

    /// <summary>Does what <see cref="PlanAsync"/> says, one partition after the other.</summary>
    public async Task RunAsync(Topic topic, IEnumerable<PartitionRepair> plan, CancellationToken cancellationToken)
    {
        foreach (PartitionRepair repair in plan)
        {
            repair.Failure =
                repair.Node.Length == 0
                    ? "no node answers that has a copy"
                    : await broker
                        .Replicas.RepairAsync(topic, repair.Partition, repair.Node, cancellationToken)
                        .ConfigureAwait(false);
            repair.Done = repair.Failure.Length == 0;
        }
    }

    /// <summary>Writes the catalog anew, or says what it would do.</summary>
    public async Task<RepairCatalogResponse> RepairCatalogAsync(bool planOnly, CancellationToken cancellationToken)
    {
        if (!broker.HasReplication)
            throw new BrokerException(ErrorCode.NotSupported, "This broker has no cluster: set Cluster:Engine.");
        var response = new RepairCatalogResponse
        {
            Damage = broker.Catalog.Loss ?? "",
            Topics = (uint)broker.Topics.Count(),
            Users = (uint)broker.Users.Table.Users.Count,
        };
        if (response.Damage.Length != 0 && !planOnly)
        {
            try
            {
                await broker.Catalog.RewriteAsync(cancellationToken).ConfigureAwait(false);
            }
            catch (ReplicationException e)
            {
                throw new BrokerException(ErrorCode.Unavailable, e.Message);
            }
            response.Done = true;
        }
        return response;
    }

    /// <summary>
    /// The longest copy. Of two that are as long, the leader's: it knows best what groups have settled.
    /// </summary>
    private static PartitionRepair? Find(IReadOnlyDictionary<string, PartitionCopy> copies)
    {
        if (copies.Values.FirstOrDefault(c => c.Loss.Length != 0) is not { } damaged)
            return null;
        (string node, PartitionCopy best) = copies
            .OrderByDescending(c => c.Value.End)
            .ThenByDescending(c => c.Value.IsLeader)
            .ThenBy(c => c.Value.First)
            .First();
        return new PartitionRepair
        {
            Damage = damaged.Loss,
            Node = node,
            FirstOffset = best.First,
            EndOffset = best.End,
        };
    }
}
