using LightQ.Client;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Faults;

/// <summary>D9: the connection goes between the write and its ack; an idempotent producer sends again.</summary>
[Collection(FaultCollection.Name)]
[Trait("Fault", "D9")]
[Trait("Tier", "C")]
public sealed class LostAckTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(15);

    [Fact]
    public async Task What_was_stored_and_not_acknowledged_is_resent_and_stored_once()
    {
        var run = new FaultRun("D9", "proxy cuts the connection between write and ack, idempotent producers resend");
        int cuts = FaultRun.Times(plain: 20, c: 200, n: 2_000);
        await using TestServer server = await TestServer.StartAsync();
        await using var proxy = new CuttingProxy(server.DataPort, cuts, run.RandomFor(0));
        var topic = new FaultTopic(new TopicSpec("t") { Kind = TopicKind.Durable });
        await using var direct = new LightQClient(server.ConnectionString);
        await direct.Topics.CreateAsync(topic.Spec, TestContext.Current.CancellationToken);
        await using LightQClient client = Through(proxy, server.ControlPort);
        await using LightQClient other = Through(proxy, server.ControlPort);
        FaultProducer[] producers =
        [
            .. Enumerable
                .Range(0, 4)
                .Select(i => new FaultProducer(i, "t", topic.Ledger, Idempotent(i), mayFail: false)),
        ];

        using var stop = new CancellationTokenSource();
        Task[] working =
        [
            .. producers.Select((p, i) => p.RunAsync(i % 2 == 0 ? client : other, run.RandomFor(i + 1), stop.Token)),
        ];
        await Eventually.TrueAsync(
            () => proxy.Cuts >= cuts || topic.Ledger.Violations.Count != 0,
            Patience,
            () => $"{proxy.Cuts} cuts so far"
        );
        await stop.CancelAsync();
        await Task.WhenAll(working);
        foreach (FaultProducer producer in producers)
            await producer.SettleAsync(Patience);
        await topic.VerifyAsync(direct, Durability.Memory);

        run.Count("cuts", proxy.Cuts);
        run.Count("acknowledged", producers.Sum(p => p.Acknowledged));
        run.Count("outcome unknown", producers.Sum(p => p.Unknown));
        run.Count("read back", topic.Verified);
        run.Count("violations", topic.Ledger.Violations.Count);
        run.Report();
        foreach (FaultProducer producer in producers)
            await producer.DisposeAsync();
        Assert.True(
            topic.Ledger.Violations.Count == 0,
            $"LIGHTQ_SEED={run.Seed}:\n{string.Join('\n', topic.Ledger.Violations.Take(40))}"
        );
        Assert.Equal(0, run["outcome unknown"]);
        Assert.Equal(run["acknowledged"], topic.EndOffset);
        Assert.Equal(run["acknowledged"], run["read back"]);
    }

    private static ProducerOptions Idempotent(int number) =>
        new()
        {
            Name = $"producer-{number}",
            AckLevel = number < 2 ? Durability.Fsync : Durability.Written,
            DisposeTimeout = TimeSpan.Zero,
        };

    private static LightQClient Through(CuttingProxy proxy, int controlPort) =>
        new(
            new LightQClientOptions
            {
                DataPort = proxy.Port,
                ControlPort = controlPort,
                WaitForBroker = true,
                ReconnectDelay = TimeSpan.FromMilliseconds(1),
                MaxReconnectDelay = TimeSpan.FromMilliseconds(5),
            }
        );
}
