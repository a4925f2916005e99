using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Faults;

/// <summary>
/// D12: the broker is killed while messages with ids are published, and published again; each is stored once, and who
/// publishes it again is told where.
/// </summary>
[Collection(FaultCollection.Name)]
[Trait("Fault", "D12")]
public sealed class DedupKillTests
{
    private const int Partitions = 2;

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    [Trait("Tier", "C")]
    [Trait("Plain", "no")]
    public async Task Kill_9_while_messages_with_ids_are_published_and_published_again_stores_each_once()
    {
        FaultRun.RequireTier("It kills processes.");
        var run = new FaultRun("D12", "kill -9 while messages with ids are published, and published again afterwards");
        using var directory = new TemporaryDirectory();
        await using var broker = new FaultBroker(directory.Path);
        await broker.StartAsync();
        await using LightQClient client = broker.Connect();
        await client.Topics.CreateAsync(
            new TopicSpec("t")
            {
                Kind = TopicKind.Durable,
                Partitions = Partitions,
                DedupWindow = TimeSpan.FromDays(1),
                DedupMaxIds = 10_000_000,
                SegmentBytes = 8 << 20,
            },
            Cancelled
        );
        var violations = new List<string>();
        IdPublisher[] publishers =
        [
            new("anonymous", new ProducerOptions(), violations),
            new("named", new ProducerOptions { Name = "named" }, violations),
            new(
                "compressed",
                new ProducerOptions
                {
                    Name = "compressed",
                    Compression = BatchCodec.Deflate,
                    CompressionMinimumBytes = 0,
                },
                violations
            ),
        ];
        for (int cycle = 0; cycle < FaultRun.Times(12, 200) && violations.Count == 0; cycle++)
        {
            Random random = run.RandomFor(cycle);
            using var stop = CancellationTokenSource.CreateLinkedTokenSource(Cancelled);
            Task[] working =
            [
                .. publishers.Select((p, i) => p.RunAsync(client, new Random(random.Next() + i), stop.Token)),
            ];
            await Task.Delay(random.Next(20, 300), Cancelled); // When it is killed is what the test is about.
            await broker.KillAsync();
            await stop.CancelAsync();
            await broker.StartAsync();
            await Task.WhenAll(working);
            foreach (IdPublisher publisher in publishers)
                await publisher.PublishAgainAsync(client, Cancelled);
            run.Count("cycles");
        }
        Dictionary<string, int> stored = await ReadAsync(client, publishers, violations);
        string[] acknowledged = [.. publishers.SelectMany(p => p.Known.Keys)];
        run.Count("acknowledged", acknowledged.Length);
        run.Count("duplicates told", publishers.Sum(p => p.Duplicates));
        run.Count("outcome unknown", publishers.Sum(p => p.Unknown));
        run.Count("lost", acknowledged.Count(id => !stored.ContainsKey(id)));
        run.Count("stored twice", stored.Count(s => s.Value > 1));
        run.Count("violations", violations.Count);
        run.Report();
        foreach (IdPublisher publisher in publishers)
            await publisher.DisposeAsync();
        Assert.True(
            violations.Count == 0,
            $"LIGHTQ_SEED={run.Seed}:\n{string.Join('\n', violations.Take(40))}\n{broker.Log}"
        );
        Assert.Equal((0, 0), (run["lost"], run["stored twice"]));
        Assert.Equal(acknowledged.Length, stored.Count);
        Assert.True(
            run["duplicates told"] > run["cycles"] && run["outcome unknown"] > 0,
            "The kills have missed what was under way."
        );
    }

    /// <summary>Reads all partitions: how often each id is stored, and whether that is where the acks said.</summary>
    private static async Task<Dictionary<string, int>> ReadAsync(
        LightQClient client,
        IdPublisher[] publishers,
        List<string> violations
    )
    {
        TopicInfo topic = await client.Topics.GetAsync("t", Cancelled);
        var places = publishers.SelectMany(p => p.Known).ToDictionary(k => k.Key, k => k.Value);
        var stored = new Dictionary<string, int>();
        for (int partition = 0; partition < Partitions; partition++)
        {
            long end = topic.EndOffsets[partition];
            if (end == 0)
                continue;
            await foreach (
                Message message in client
                    .ConsumeAsync(
                        $"t/{partition}",
                        new ConsumeOptions { Start = StartPosition.Earliest, GapAction = GapAction.Throw }
                    )
                    .WithCancellation(Cancelled)
            )
            {
                string id = message.MessageId ?? "(none)";
                stored[id] = stored.GetValueOrDefault(id) + 1;
                if (
                    !places.TryGetValue(id, out (int Partition, long Offset) place)
                    || place != (partition, message.Offset)
                )
                {
                    violations.Add(
                        $"{id} is at {partition}/{message.Offset}; its ack said {place.Partition}/{place.Offset}."
                    );
                }

                if (message.Offset == end - 1)
                    break;
            }
        }
        return stored;
    }
}
