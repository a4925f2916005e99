using LightQ.Broker.Replication;
using LightQ.ClusterTests.Log;
using LightQ.ClusterTests.Nats;
using LightQ.IntegrationTests;
using LightQ.Replication.Nats;
using Xunit;

namespace LightQ.ClusterTests.Mutations;

/// <summary>
/// Rounds of three nodes on three nats-servers that leave out a rule: under load, claimed from live owners, with
/// entries in the stream that do not count. Each round is judged as the real nodes are.
/// </summary>
internal sealed class MutationRounds(NatsFixture nats, Mutation mutation)
{
    private const int Nodes = 3,
        Producers = 4,
        Batches = 300,
        Claims = 40;

    private static readonly TimeSpan Longest = TimeSpan.FromSeconds(15);

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    /// <summary>Entries of all rounds that did not count.</summary>
    public int Void { get; private set; }

    /// <summary>Runs rounds until one is found fault with.</summary>
    /// <returns>What was wrong, with the round's number; null when nothing was.</returns>
    public async Task<string?> FindFaultAsync(int rounds)
    {
        for (int round = 1; round <= rounds; round++)
        {
            if (await RunAsync(round) is { } fault)
                return $"{mutation} in round {round}: {fault}";
        }
        return null;
    }

    private async Task<string?> RunAsync(int round)
    {
        string name = $"LQ_mutation_{Guid.NewGuid():N}";
        await using JetStreamEngine engine = await nats.ConnectAsync();
        IReplicatedStream stream = await engine.CreateStreamAsync(name, 3, Cancelled);
        TemporaryDirectory[] directories = [.. Enumerable.Range(0, Nodes).Select(_ => new TemporaryDirectory())];
        double faults = mutation is Mutation.None or Mutation.ResendAfterUnknown ? 0.1 : 0;
        ReplicaNode[] nodes =
        [
            .. directories.Select(
                (directory, i) =>
                    new ReplicaNode(
                        $"n{i}",
                        new MutantStream(stream, mutation, faults, seed: (round * Nodes) + i),
                        directory.Path,
                        engine.MaxEntryBytes,
                        Shape
                    )
            ),
        ];
        try
        {
            Dictionary<ulong, IReadOnlyList<long>> acknowledged = await LoadAsync(stream, nodes, new Random(round));
            return await JudgeAsync(stream, nodes, acknowledged);
        }
        finally
        {
            foreach (ReplicaNode node in nodes)
                await node.DisposeAsync();
            foreach (TemporaryDirectory directory in directories)
                directory.Dispose();
            await engine.DeleteStreamAsync(name, CancellationToken.None);
        }
    }

    /// <summary>A node that goes wrong writes no snapshot: its sequence may be made up.</summary>
    private ReplicatedLogOptions Shape(ReplicatedLogOptions options) =>
        mutation == Mutation.None
            ? options
            : options with
            {
                SnapshotBytes = long.MaxValue,
                SnapshotEntries = long.MaxValue,
            };

    private async Task<Dictionary<ulong, IReadOnlyList<long>>> LoadAsync(
        IReplicatedStream stream,
        ReplicaNode[] nodes,
        Random random
    )
    {
        await nodes[0].ClaimAsync(Cancelled);
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(Cancelled);
        using var late = CancellationTokenSource.CreateLinkedTokenSource(Cancelled);
        late.CancelAfter(Longest); // A node that went wrong may never own the partition again.
        Task intruding = new Intruder(stream).RunAsync(mutation, new Random(random.Next()), stop.Token);
        Task claiming = LogTraffic.ClaimAsync(nodes, Claims, random, stop.Token);
        Dictionary<ulong, IReadOnlyList<long>> acknowledged = await LogTraffic.PublishUntilAsync(
            nodes,
            Producers,
            Batches,
            late.Token
        );
        await stop.CancelAsync();
        await intruding;
        await claiming;
        await ResendAsync(nodes, acknowledged);
        return acknowledged;
    }

    /// <summary>One node more takes over, and each producer sends again what it has an ack for.</summary>
    private static async Task ResendAsync(ReplicaNode[] nodes, Dictionary<ulong, IReadOnlyList<long>> acknowledged)
    {
        ReplicaNode heir = Array.Find(nodes, node => !node.IsOwner) ?? nodes[0];
        await LogTraffic.TryClaimAsync(heir, Cancelled);
        if (!heir.IsOwner)
            return;
        foreach ((ulong producer, IReadOnlyList<long> offsets) in acknowledged.Where(a => a.Value.Count != 0))
            await heir.PublishAsync(producer, (ulong)offsets.Count - 1, records: 1);
    }

    private async Task<string?> JudgeAsync(
        IReplicatedStream stream,
        ReplicaNode[] nodes,
        Dictionary<ulong, IReadOnlyList<long>> acknowledged
    )
    {
        List<StreamEntry> entries = [];
        await foreach (StreamEntry entry in stream.ReadAsync(1, ulong.MaxValue, Cancelled))
            entries.Add(entry);
        var checker = new StreamChecker(entries);
        Void += checker.Void;
        try
        {
            checker.Check(acknowledged);
            foreach (ReplicaNode node in nodes)
                checker.CheckNode(node);
        }
        catch (Xunit.Sdk.XunitException e)
        {
            return e.Message;
        }
        int least = acknowledged.Values.Min(offsets => offsets.Count);
        return least == Batches ? null : $"stuck: of a producer's {Batches} batches {least} were acknowledged";
    }
}
