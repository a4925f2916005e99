using LightQ.Broker;
using LightQ.Broker.Topics;

namespace LightQ.Server.Cluster;

/// <summary>Makes sure that this node leads what it answers for, from the beginning to the end.</summary>
internal static class HeldPartitions
{
    /// <summary>Does something for partitions that this node is taken to lead.</summary>
    /// <param name="topic">The topic; null for all topics, of which nothing is demanded.</param>
    /// <param name="partitions">The partitions.</param>
    /// <param name="run">Does it.</param>
    /// <exception cref="BrokerException">
    /// <see cref="ErrorCode.NotLeader"/>: it does not lead one of them, or has lost one meanwhile.
    /// </exception>
    public static async Task<TResponse> RunAsync<TResponse>(
        Topic? topic,
        IReadOnlyList<uint> partitions,
        Func<Task<TResponse>> run
    )
    {
        Partition[] held = topic is null ? [] : [.. partitions.Select(p => Demand(topic, p))];
        TResponse response = await run().ConfigureAwait(false);
        if (Array.Find(held, p => topic!.Partitions[(int)p.Index] != p) is { } lost)
        {
            throw new BrokerException(
                ErrorCode.NotLeader,
                topic!.Describe(
                    lost.Index,
                    "another node leads the partition since the call began, and it may have been done for others only; "
                        + "make it again."
                )
            );
        }
        return response;
    }

    /// <summary>A partition that this node leads, or that it could not open.</summary>
    public static Partition Demand(Topic topic, uint partition)
    {
        if (partition >= topic.Partitions.Length)
            return topic.GetPartition(partition); // It says which there are.
        Partition found = topic.Partitions[(int)partition];
        if (found.Refusal is { Code: ErrorCode.NotLeader })
            found.ThrowIfRefused();
        return found;
    }
}
