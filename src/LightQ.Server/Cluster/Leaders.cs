using LightQ.Broker;
using LightQ.Broker.Cluster;
using LightQ.Broker.Topics;

namespace LightQ.Server.Cluster;

/// <summary>Which node a call about a partition is for.</summary>
internal sealed class Leaders(ClusterMembers members, TimeProvider time)
{
    /// <summary>
    /// How long a call waits for a partition that no node leads: the next one claims it within a second.
    /// </summary>
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(5),
        Poll = TimeSpan.FromMilliseconds(20);

    /// <summary>This node.</summary>
    public string Node => members.Node;

    /// <summary>The nodes that are alive.</summary>
    public IEnumerable<string> Live => members.Members.Where(m => m.IsLive || m.Name == Node).Select(m => m.Name);

    /// <summary>Partitions by the nodes that lead them.</summary>
    /// <exception cref="BrokerException"><see cref="ErrorCode.Unavailable"/>: none leads one of them.</exception>
    public async ValueTask<Dictionary<string, List<uint>>> OfAsync(
        Topic topic,
        IEnumerable<uint> partitions,
        CancellationToken cancellationToken
    )
    {
        var homes = new Dictionary<string, List<uint>>(StringComparer.Ordinal);
        foreach (uint partition in partitions)
        {
            string node = await OfAsync(topic, partition, cancellationToken).ConfigureAwait(false);
            if (!homes.TryGetValue(node, out List<uint>? led))
                homes.Add(node, led = []);
            led.Add(partition);
        }
        return homes;
    }

    /// <summary>The node that leads a partition; empty while none does.</summary>
    public string Find(Topic topic, uint partition)
    {
        if (topic.Partitions[(int)partition].Refusal is not { Code: ErrorCode.NotLeader } refusal)
            return Node;
        if (!topic.Settings.IsReplicated)
            return refusal.Node;
        Situation now = members.Of(new PartitionId(topic.Id, partition));
        return now.IsLed && now.Leader != Node ? now.Leader : "";
    }

    /// <summary>The node that leads a partition.</summary>
    /// <exception cref="BrokerException"><see cref="ErrorCode.Unavailable"/>: none does.</exception>
    public async ValueTask<string> OfAsync(Topic topic, uint partition, CancellationToken cancellationToken)
    {
        long began = time.GetTimestamp();
        while (true)
        {
            if (Find(topic, partition) is { Length: not 0 } node)
                return node;
            if (time.GetElapsedTime(began) >= Patience)
            {
                throw new BrokerException(
                    ErrorCode.Unavailable,
                    $"No node leads partition {partition} of the topic '{topic.Name}' at the moment."
                );
            }
            await Task.Delay(Poll, time, cancellationToken).ConfigureAwait(false);
        }
    }
}
