using LightQ.Broker.Cluster;
using LightQ.Broker.Replication;
using LightQ.Client;
using LightQ.ClusterTests.Log;
using LightQ.IntegrationTests;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.ClusterTests.Handovers;

/// <summary>The node that takes a partition over reads what it lacks while the leader still takes messages.</summary>
public sealed class TakerTests
{
    private const int Messages = 400,
        BodyBytes = 512 * 1024;

    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(2);

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Producers_do_not_wait_while_a_node_with_an_empty_journal_reads_200_MiB()
    {
        var shared = new MemoryEngine();
        Queue<MemoryEngine> engines = new([shared.Connect(), shared.Connect()]);
        MemoryEngine[] nodes = [.. engines];
        await using ServerCluster cluster = await ServerCluster.StartAsync(
            new MemberOptions { Silence = TimeSpan.FromSeconds(5) },
            () => new(engines.Dequeue()),
            "a",
            "b"
        );
        await cluster.CreateAsync("big", partitions: 1);
        string leader = cluster.LeaderOf("big", 0)!,
            taker = leader == "a" ? "b" : "a";
        MemoryEngine reader = nodes[taker == "a" ? 0 : 1];
        string name = shared.Names.Single(n => n.EndsWith("_0", StringComparison.Ordinal));
        await using LightQClient client = cluster.Connect();
        var publishing = new Publishing("big", 0, BodyBytes, Messages);
        using var stop = new CancellationTokenSource();
        Task running = publishing.RunAsync(client, stop.Token);
        await Eventually.TrueAsync(
            () => publishing.Acknowledged >= Messages,
            Patience,
            () => $"{publishing.Acknowledged} of {Messages} messages are acknowledged."
        );
        long empty = reader.EntriesRead(name);

        // Producers are held between the leader's last data and the taker's claim, if not even shorter.
        long atLastData = 0,
            atClaim = 0;
        uint epoch = 0;
        shared[name].OnStored = entry =>
        {
            if (entry.Kind == EntryKind.Data && epoch == 0)
                atLastData = reader.EntriesRead(name);
            else if (entry.Kind == EntryKind.Claim)
                (atClaim, epoch) = (reader.EntriesRead(name), epoch + 1);
        };
        await cluster.MoveAsync("big", 0, taker);
        long acknowledged = publishing.Acknowledged;
        await Eventually.TrueAsync(
            () => publishing.Acknowledged > acknowledged,
            Patience,
            () => "The producer does not go on."
        );
        await stop.CancelAsync();
        await running;
        Assert.Equal(1u, epoch);
        Assert.True(atClaim - empty > Messages / 2, $"The taker read {atClaim - empty} entries.");
        Assert.InRange(atClaim - atLastData, 1, 60);
    }
}
