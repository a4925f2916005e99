using System.Collections.Concurrent;
using System.Globalization;
using LightQ.Client;
using LightQ.Protocol.Records;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Faults;

/// <summary>G3: some messages fail whoever gets them.</summary>
[Collection(FaultCollection.Name)]
[Trait("Fault", "G3")]
[Trait("Tier", "C")]
public sealed class PoisonMessageTests
{
    private const int MaxDeliveries = 3,
        PoisonEvery = 50,
        Members = 3;
    private const string Topic = "jobs";
    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(4);

    [Fact]
    public async Task What_is_always_abandoned_is_dead_lettered_at_the_limit_and_the_rest_flows()
    {
        var run = new FaultRun("G3", "every 50th message is always abandoned");
        int messages = FaultRun.Times(plain: 1_000, c: 50_000, n: 1_000_000);
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await client.Topics.CreateAsync(
            new TopicSpec(Topic)
            {
                Kind = TopicKind.Durable,
                MaxDeliveries = MaxDeliveries,
                RetryDelay = TimeSpan.FromMilliseconds(1),
            },
            TestContext.Current.CancellationToken
        );
        using var done = CancellationTokenSource.CreateLinkedTokenSource(TestContext.Current.CancellationToken);
        var deliveries = new ConcurrentDictionary<long, int>();
        Task[] members = [.. Enumerable.Range(0, Members).Select(_ => WorkAsync(client, deliveries, done.Token))];

        await using (
            Producer producer = await client.CreateProducerAsync(
                Topic,
                cancellationToken: TestContext.Current.CancellationToken
            )
        )
        {
            for (int i = 0; i < messages; i++)
            {
                while (
                    !producer.TryPublish(System.Text.Encoding.ASCII.GetBytes(i.ToString(CultureInfo.InvariantCulture)))
                )
                {
                    await producer.WaitForRoomAsync(TestContext.Current.CancellationToken);
                }
            }
            await producer.FlushAsync(TestContext.Current.CancellationToken);
        }
        int poison = (messages + PoisonEvery - 1) / PoisonEvery;
        List<(long Body, string Offset, string Deliveries, string Reason)> dead = await ReadDeadAsync(client, poison);
        var group = server.Broker.GetTopic(Topic).Partitions[0].Groups().Single();
        await Eventually.TrueAsync(
            () => group.Committed == messages,
            Patience,
            () => $"{group.Figures()}; seed {run.Seed}"
        );
        await done.CancelAsync();
        await Task.WhenAll(members);

        run.Figure("published", messages);
        run.Figure("completed", deliveries.Keys.Count(offset => offset % PoisonEvery != 0));
        run.Figure("dead-lettered", dead.Count);
        run.Figure("most deliveries", deliveries.Values.Max());
        run.Report();
        Assert.Equal(messages, deliveries.Count);
        Assert.All(deliveries, d => Assert.Equal(d.Key % PoisonEvery == 0 ? MaxDeliveries : 1, d.Value));
        Assert.Equal(Enumerable.Range(0, poison).Select(i => (long)i * PoisonEvery), dead.Select(d => d.Body).Order());
        Assert.All(
            dead,
            d =>
                Assert.Equal(
                    (d.Body.ToString(CultureInfo.InvariantCulture), "3", "delivered 3 times without being completed"),
                    (d.Offset, d.Deliveries, d.Reason)
                )
        );
        Assert.Equal(poison, server.Broker.GetTopic(Topic + ".dead").Partitions[0].Log.EndOffset);
    }

    private static async Task WorkAsync(
        LightQClient client,
        ConcurrentDictionary<long, int> deliveries,
        CancellationToken until
    )
    {
        try
        {
            await foreach (
                Message message in client.ConsumeAsync(
                    Topic,
                    new()
                    {
                        Group = "workers",
                        SettleMode = SettleMode.Explicit,
                        MaxInFlight = 64,
                    },
                    until
                )
            )
            {
                Assert.Equal(deliveries.AddOrUpdate(message.Offset, 1, (_, n) => n + 1), message.DeliveryCount);
                if (message.Offset % PoisonEvery == 0)
                    await message.AbandonAsync(cancellationToken: until);
                else
                    message.QueueCompletion();
            }
        }
        catch (OperationCanceledException) when (until.IsCancellationRequested) { }
    }

    private static async Task<List<(long, string, string, string)>> ReadDeadAsync(LightQClient client, int count)
    {
        var dead = new List<(long, string, string, string)>();
        await Eventually.TrueAsync(
            async () =>
                await client
                    .Topics.ListAsync(TestContext.Current.CancellationToken)
                    .AnyAsync(t => t.Name == Topic + ".dead"),
            Patience,
            () => "nothing is dead-lettered"
        );
        await using MessageConsumer consumer = client.CreateConsumer(
            Topic + ".dead",
            new() { Start = StartPosition.Earliest }
        );
        while (dead.Count < count)
        {
            IReadOnlyList<Message> letters = await consumer.FetchAsync(
                count - dead.Count,
                Patience,
                cancellationToken: TestContext.Current.CancellationToken
            );
            Assert.NotEmpty(letters);
            dead.AddRange(
                letters.Select(l =>
                    (
                        long.Parse(l.GetText(), CultureInfo.InvariantCulture),
                        Header(l, DeadLetterHeader.Offset),
                        Header(l, DeadLetterHeader.Deliveries),
                        Header(l, DeadLetterHeader.Reason)
                    )
                )
            );
        }
        return dead;
    }

    private static string Header(in Message message, string name) =>
        message.TryGetHeader(name, out ReadOnlySpan<byte> value) ? System.Text.Encoding.UTF8.GetString(value) : "";
}
