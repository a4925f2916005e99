using System.Globalization;
using LightQ.Broker.Cluster;
using LightQ.Client;
using LightQ.ClusterTests.Nats;
using LightQ.IntegrationTests;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.ClusterTests.Handovers;

/// <summary>How long producers get no acks when another node leads their partition.</summary>
[Collection(NatsTests.Name)]
public sealed class SilenceTests(NatsFixture nats)
{
    private const int Partitions = 6,
        Rounds = 10;

    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(1);

    /// <summary>Ten times what is wanted: 200 ms of the slowest in a hundred.</summary>
    private static readonly TimeSpan Longest = TimeSpan.FromSeconds(2);

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task Producers_are_silent_for_a_moment_when_their_partition_moves()
    {
        FaultRun.RequireTier("Sixty partitions move, one after the other.");
        _ = nats.Cluster;
        await using ServerCluster cluster = await ServerCluster.StartAsync(
            new MemberOptions(),
            async () => await nats.ConnectAsync(),
            "a",
            "b",
            "c"
        );
        await cluster.CreateAsync("silence", Partitions);
        using var stop = new CancellationTokenSource();
        await using LightQClient client = cluster.Connect();
        Publishing[] publishing = [.. Enumerable.Range(0, Partitions).Select(i => new Publishing("silence", i))];
        Task[] running = [.. publishing.Select(p => p.RunAsync(client, stop.Token))];
        await GoOnAsync(publishing);

        List<TimeSpan> moved = [],
            still = [];
        for (int round = 0; round < Rounds; round++)
        {
            for (int i = 0; i < Partitions; i++)
            {
                string leader = cluster.LeaderOf("silence", i)!;
                _ = publishing.Select(p => p.TakeSilence()).ToArray();
                await cluster.MoveAsync("silence", i, cluster.Names.First(n => n != leader));
                await GoOnAsync(publishing);
                for (int other = 0; other < Partitions; other++)
                    (other == i ? moved : still).Add(publishing[other].TakeSilence());
            }
        }
        await cluster["a"].Broker.Replicas.DrainAsync("a", TestContext.Current.CancellationToken);
        await Eventually.TrueAsync(
            () => Enumerable.Range(0, Partitions).All(i => cluster.LeaderOf("silence", i) is not (null or "a")),
            Patience,
            () => "A drained node leads a partition."
        );
        await GoOnAsync(publishing);
        TimeSpan[] drained = [.. publishing.Select(p => p.TakeSilence())];
        await stop.CancelAsync();
        await Task.WhenAll(running);
        TestContext.Current.TestOutputHelper?.WriteLine(
            $"moved {Describe(moved)}\nothers meanwhile {Describe(still)}\na drain of one node {Describe(drained)}"
        );
        Assert.True(At(moved, 0.99) < Longest && At(drained, 0.99) < Longest, Describe([.. moved, .. drained]));
    }

    private static async Task GoOnAsync(Publishing[] publishing)
    {
        long[] before = [.. publishing.Select(p => p.Acknowledged)];
        await Eventually.TrueAsync(
            () => publishing.Select((p, i) => p.Acknowledged > before[i] + 5).All(goesOn => goesOn),
            Patience,
            () => "A producer gets no acks."
        );
    }

    private static string Describe(IReadOnlyCollection<TimeSpan> times) =>
        string.Create(
            CultureInfo.InvariantCulture,
            $"p50 {At(times, 0.5).TotalMilliseconds:0.0} ms, p90 {At(times, 0.9).TotalMilliseconds:0.0}, "
                + $"p99 {At(times, 0.99).TotalMilliseconds:0.0}, max {times.Max().TotalMilliseconds:0.0}, {times.Count}"
        );

    private static TimeSpan At(IEnumerable<TimeSpan> times, double part)
    {
        TimeSpan[] sorted = [.. times.Order()];
        return sorted[(int)Math.Min(sorted.Length - 1, Math.Ceiling(part * sorted.Length) - 1)];
    }
}
