using LightQ.Broker.Replication;
using Xunit;

namespace LightQ.ClusterTests.Log;

/// <summary>What goes on on replicated logs in tests: claims, and producers that look for the owner.</summary>
internal static class LogTraffic
{
    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    /// <summary>Claims for a node, unless it cannot reach the stream.</summary>
    public static async Task TryClaimAsync(ReplicaNode node, CancellationToken cancellationToken)
    {
        try
        {
            await node.ClaimAsync(cancellationToken);
        }
        catch (ReplicationException)
        {
            // It is cut off; another one will do it.
        }
    }

    /// <summary>
    /// Claims for one node after the other, whether or not the owner is alive; then only when there is none.
    /// </summary>
    public static async Task ClaimAsync(
        ReplicaNode[] nodes,
        int claims,
        Random random,
        CancellationToken cancellationToken
    )
    {
        try
        {
            for (int i = 0; ; i++)
            {
                await Task.Delay(random.Next(10, 60), cancellationToken);
                if (i < claims || !Array.Exists(nodes, node => node.IsOwner))
                    await TryClaimAsync(nodes[i % nodes.Length], cancellationToken);
            }
        }
        catch (OperationCanceledException)
        {
            // The producers are done.
        }
    }

    /// <summary>Named producers, each with one batch under way, that go to whoever says that it is the owner.</summary>
    public static Task<Dictionary<ulong, IReadOnlyList<long>>> PublishAsync(
        ReplicaNode[] nodes,
        int producers,
        int batches
    ) => PublishUntilAsync(nodes, producers, batches, Cancelled);

    /// <summary>The same, which may end early.</summary>
    /// <param name="nodes">The nodes.</param>
    /// <param name="producers">How many producers.</param>
    /// <param name="batches">How many batches each of them publishes.</param>
    /// <param name="late">Ends them before that.</param>
    public static async Task<Dictionary<ulong, IReadOnlyList<long>>> PublishUntilAsync(
        ReplicaNode[] nodes,
        int producers,
        int batches,
        CancellationToken late
    )
    {
        async Task<IReadOnlyList<long>> ProduceAsync(ulong producer)
        {
            List<long> offsets = [];
            var random = new Random((int)producer);
            while (offsets.Count < batches && !late.IsCancellationRequested)
            {
                ReplicaNode[] owners = [.. nodes.Where(node => node.IsOwner)];
                long? offset =
                    owners.Length == 0
                        ? null
                        : await owners[random.Next(owners.Length)]
                            .PublishAsync(producer, (ulong)offsets.Count, records: 1 + random.Next(5))
                            .WaitAsync(TimeSpan.FromSeconds(60), Cancelled);
                if (offset is { } acknowledged)
                    offsets.Add(acknowledged);
                else
                    await Task.Delay(1, Cancelled);
            }
            return offsets;
        }
        Task<IReadOnlyList<long>>[] running =
        [
            .. Enumerable.Range(1, producers).Select(producer => Task.Run(() => ProduceAsync((ulong)producer))),
        ];
        IReadOnlyList<long>[] all = await Task.WhenAll(running);
        return Enumerable.Range(0, producers).ToDictionary(i => (ulong)i + 1, i => all[i]);
    }
}
