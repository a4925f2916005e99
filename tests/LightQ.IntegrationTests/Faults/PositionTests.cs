using System.Diagnostics;
using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Faults;

/// <summary>G4: groups' positions over kills, stops, resets and removed messages.</summary>
[Collection(FaultCollection.Name)]
[Trait("Fault", "G4")]
[Trait("Tier", "C")]
public sealed class PositionTests
{
    private const string Topic = "orders";
    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(1);

    /// <summary>What was settled a second ago is kept; the rest is for a machine that is busy.</summary>
    private static readonly TimeSpan KeptWithin = TimeSpan.FromSeconds(2);

    private static readonly ConsumeOptions[] Groups =
    [
        new() { Group = "settles", SettleMode = SettleMode.Explicit },
        new() { Group = "lets-settle" },
    ];

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    [Trait("Plain", "no")]
    public async Task A_killed_broker_takes_back_at_most_what_was_settled_in_its_last_moment()
    {
        var run = new FaultRun("G4.kill", "the broker is killed (-9) while groups consume");
        FaultRun.RequireTier("Each kill takes some seconds.");
        int kills = FaultRun.Times(c: 5, n: 200);
        using var directory = new TemporaryDirectory();
        await using var broker = new FaultBroker(directory.Path);
        await broker.StartAsync();
        await using LightQClient client = broker.Connect();
        await client.Topics.CreateAsync(
            new TopicSpec(Topic) { Kind = TopicKind.Durable },
            TestContext.Current.CancellationToken
        );
        using var stopping = CancellationTokenSource.CreateLinkedTokenSource(TestContext.Current.CancellationToken);
        long[] lowest = [long.MaxValue, long.MaxValue]; // Of each group, delivered since the last kill.
        Task[] work =
        [
            PublishAsync(broker, stopping.Token),
            .. Groups.Select((_, i) => ConsumeAsync(broker, i, lowest, stopping.Token)),
        ];
        Random random = run.RandomFor(0);
        long most = 0,
            mostBack = 0;
        for (int kill = 0; kill < kills; kill++)
        {
            var seen = new List<(TimeSpan At, long[] Positions)>();
            TimeSpan life = KeptWithin + TimeSpan.FromMilliseconds(random.Next(200, 1200));
            var watch = Stopwatch.StartNew();
            while (watch.Elapsed < life)
            {
                long[] now = await PositionsAsync(client);
                if (seen.Count > 0)
                {
                    Assert.All(
                        now.Zip(seen[^1].Positions),
                        p =>
                            Assert.True(
                                p.First >= p.Second,
                                $"a position moved back from {p.Second} to {p.First}; seed {run.Seed}"
                            )
                    );
                }

                seen.Add((watch.Elapsed, now));
                await Task.Delay(20, TestContext.Current.CancellationToken);
            }
            await broker.KillAsync();
            TimeSpan killed = watch.Elapsed;
            await Task.Delay(20, TestContext.Current.CancellationToken); // What it had sent is received.
            lowest.AsSpan().Fill(long.MaxValue);
            await broker.StartAsync();
            await Eventually.TrueAsync(
                async () => (await PositionsAsync(client)).Zip(seen[^1].Positions).All(p => p.First > p.Second),
                Patience,
                () => $"the groups do not go on; seed {run.Seed}"
            );
            long[] kept = seen.Last(s => s.At < killed - KeptWithin).Positions;
            for (int i = 0; i < lowest.Length; i++)
            {
                Assert.True(
                    lowest[i] >= kept[i],
                    $"a kill took a position of {kept[i]}, {KeptWithin.TotalSeconds} s old, back to {lowest[i]}; seed "
                        + $"{run.Seed}"
                );
                mostBack = Math.Max(mostBack, seen[^1].Positions[i] - lowest[i]);
            }
            most = seen[^1].Positions.Max();
        }
        await stopping.CancelAsync();
        await Task.WhenAll(work);
        run.Figure("kills", kills);
        run.Figure("furthest position", most);
        run.Figure("most messages taken back by a kill", mostBack);
        run.Report();
        Assert.True(most > 0, "nothing was consumed");
    }

    [Fact]
    public async Task Stops_and_removed_messages_move_no_position_back_and_a_reset_puts_it_where_it_says()
    {
        var run = new FaultRun("G4.stop", "clean stops, truncation and resets between consuming");
        int cycles = FaultRun.Times(plain: 3, c: 20, n: 500);
        Random random = run.RandomFor(0);
        await using TestServer server = await TestServer.StartAsync();
        long[] expected = [-1, -1];
        long end = 0;
        for (int cycle = 0; cycle < cycles; cycle++)
        {
            await using var client = new LightQClient(server.ConnectionString);
            if (cycle == 0)
            {
                await client.Topics.CreateAsync(
                    new TopicSpec(Topic) { Kind = TopicKind.Durable },
                    TestContext.Current.CancellationToken
                );
            }
            else
            {
                Assert.Equal(expected, await PositionsAsync(client));
            }
            int count = random.Next(1, 200);
            await using (
                Producer producer = await client.CreateProducerAsync(
                    Topic,
                    cancellationToken: TestContext.Current.CancellationToken
                )
            )
            {
                for (int i = 0; i < count; i++)
                    await producer.PublishAsync("x"u8, cancellationToken: TestContext.Current.CancellationToken);
            }
            end += count;
            for (int g = 0; g < Groups.Length; g++)
            {
                await foreach (
                    Message message in client.ConsumeAsync(Topic, Groups[g], TestContext.Current.CancellationToken)
                )
                {
                    Assert.True(
                        message.Offset >= expected[g],
                        $"{message.Offset} came again, the position was {expected[g]}; seed {run.Seed}"
                    );
                    if (Groups[g].SettleMode == SettleMode.Explicit)
                        await message.CompleteAsync(TestContext.Current.CancellationToken);
                    if (message.Offset == end - 1)
                        break;
                }
                expected[g] = end;
            }
            await Eventually.TrueAsync(
                async () => (await PositionsAsync(client)).SequenceEqual(expected),
                Patience,
                () => $"the groups do not reach {end}; seed {run.Seed}"
            );
            // A member that is still closing would be given again what a reset makes available.
            await Eventually.TrueAsync(
                async () => (await client.Stats.ListSubscriptionsAsync(cancellationToken: Cancelled)).Count == 0,
                Patience,
                () => $"members do not leave; seed {run.Seed}"
            );
            switch (random.Next(3))
            {
                case 0:
                    await client.Topics.TruncateAsync(
                        Topic,
                        random.NextInt64(end + 1),
                        cancellationToken: TestContext.Current.CancellationToken
                    );
                    run.Count("truncations");
                    break;
                case 1:
                    int group = random.Next(Groups.Length);
                    long start = server.Broker.GetTopic(Topic).Partitions[0].Log.StartOffset;
                    long to = random.NextInt64(start, end + 1);
                    await client.Groups.ResetAsync(
                        Topic,
                        Groups[group].Group!,
                        StartPosition.Offset(to),
                        cancellationToken: TestContext.Current.CancellationToken
                    );
                    expected[group] = to;
                    run.Count("resets");
                    break;
            }
            Assert.Equal(expected, await PositionsAsync(client));
            await server.RestartAsync();
            run.Count("stops");
        }
        run.Figure("messages", end);
        run.Report();
    }

    private static async Task<long[]> PositionsAsync(LightQClient client)
    {
        IReadOnlyList<GroupInfo> known = await client.Groups.ListAsync(Topic, TestContext.Current.CancellationToken);
        long[] positions = [-1, -1];
        for (int i = 0; i < Groups.Length; i++)
        {
            if (known.Any(g => g.Group == Groups[i].Group))
            {
                positions[i] = (
                    await client.Groups.GetAsync(Topic, Groups[i].Group!, TestContext.Current.CancellationToken)
                )
                    .Partitions[0]
                    .CommittedOffset;
            }
        }
        return positions;
    }

    private static async Task PublishAsync(FaultBroker broker, CancellationToken until)
    {
        await using LightQClient client = broker.Connect();
        await using Producer producer = await client.CreateProducerAsync(
            Topic,
            new ProducerOptions { Name = "shop" },
            CancellationToken.None
        );
        while (!until.IsCancellationRequested)
        {
            await producer.PublishAsync("x"u8, cancellationToken: CancellationToken.None);
            await Task.Delay(1, CancellationToken.None);
        }
    }

    private static async Task ConsumeAsync(FaultBroker broker, int group, long[] lowest, CancellationToken until)
    {
        ConsumeOptions options = Groups[group];
        await using LightQClient client = broker.Connect();
        try
        {
            await foreach (Message message in client.ConsumeAsync(Topic, options, until))
            {
                lowest[group] = Math.Min(lowest[group], message.Offset);
                if (options.SettleMode == SettleMode.Explicit)
                    message.QueueCompletion();
            }
        }
        catch (OperationCanceledException) when (until.IsCancellationRequested) { }
    }
}
