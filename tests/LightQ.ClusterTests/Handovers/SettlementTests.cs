using LightQ.Broker.Cluster;
using LightQ.Client;
using LightQ.ClusterTests.Log;
using LightQ.IntegrationTests;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.ClusterTests.Handovers;

/// <summary>What a group's members were answered holds when another node leads the partition.</summary>
public sealed class SettlementTests
{
    private const int Moves = 20,
        Members = 3;

    /// <summary>No letter and no snapshot is given up, however busy the machine is.</summary>
    private static readonly MemberOptions Options = new()
    {
        Silence = TimeSpan.FromSeconds(5),
        LongestGap = TimeSpan.FromSeconds(30),
        LongestHandover = TimeSpan.FromSeconds(30),
    };

    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(1);

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task What_was_answered_as_settled_is_not_redelivered_when_the_partition_moves()
    {
        FaultRun.RequireTier("Partitions move for some seconds.");
        var engine = new MemoryEngine();
        await using ServerCluster cluster = await ServerCluster.StartAsync(
            Options,
            () => new(engine.Connect()),
            "a",
            "b"
        );
        await cluster.CreateAsync("orders", partitions: 1);
        using var stop = new CancellationTokenSource();
        await using LightQClient client = cluster.Connect();
        var publishing = new Publishing("orders", 0);
        var settling = new Settling("orders", "billing");
        Task[] running =
        [
            publishing.RunAsync(client, stop.Token),
            .. Enumerable.Range(0, Members).Select(_ => settling.RunAsync(client, stop.Token)),
        ];
        for (int i = 0; i < Moves; i++)
        {
            int before = settling.Done;
            await Eventually.TrueAsync(
                () => settling.Done > before + 20,
                Patience,
                () => $"Nothing is settled any more behind {i} moves: {before}"
            );
            await cluster.MoveAsync("orders", 0, cluster.LeaderOf("orders", 0) == "a" ? "b" : "a");
        }
        await Eventually.TrueAsync(
            () => settling.Done > publishing.Acknowledged / 2,
            Patience,
            () => $"{settling.Done} of {publishing.Acknowledged} are settled"
        );
        await stop.CancelAsync();
        await Task.WhenAll(running);
        Assert.Empty(settling.DoneTwice);
    }
}
