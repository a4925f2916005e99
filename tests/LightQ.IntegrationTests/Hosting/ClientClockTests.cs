using LightQ.Cli.Doctor;
using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.Protocol;
using LightQ.Server.Diagnosis;
using LightQ.Tests.Shared;
using Xunit;
using TopicKind = LightQ.Client.TopicKind;

namespace LightQ.IntegrationTests.Hosting;

/// <summary>Clients whose clocks are wrong: the broker's decides.</summary>
public sealed class ClientClockTests
{
    private static readonly TimeSpan Minute = TimeSpan.FromMinutes(1);

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    public static TheoryData<string, int, int> Readers()
    {
        var data = new TheoryData<string, int, int>();
        foreach (string reader in new[] { "broadcast", "automatic", "explicit", "processor", "fetch" })
        {
            data.Add(reader, 120, 0); // Of who consumes, and of who publishes.
            data.Add(reader, 0, -120);
            data.Add(reader, -3600, 3600);
        }
        return data;
    }

    [Theory]
    [MemberData(nameof(Readers))]
    public async Task A_wrong_clock_expires_nothing_that_is_young(string reader, int consumes, int publishes)
    {
        await using TestServer server = await TestServer.StartAsync();
        await using LightQClient publisher = Connect(server, publishes);
        await using LightQClient consumer = Connect(server, consumes);
        await publisher.Topics.CreateAsync(new TopicSpec("t") { Kind = TopicKind.Durable }, Cancelled);
        await using Producer producer = await publisher.CreateProducerAsync("t", cancellationToken: Cancelled);
        for (int i = 0; i < 10; i++)
        {
            await producer.PublishAsync(
                new[] { (byte)i },
                new PublishOptions { TimeToLive = Minute },
                cancellationToken: Cancelled
            );
        }
        List<byte> got = [];
        var earliest = new ConsumeOptions { Start = StartPosition.Earliest };
        switch (reader)
        {
            case "fetch":
                var one = earliest with { Group = "g", SettleMode = SettleMode.Explicit };
                await using (MessageConsumer fetcher = consumer.CreateConsumer("t", one))
                {
                    while (got.Count < 10)
                        got.AddRange((await fetcher.FetchAsync(10, Minute, default, Cancelled)).Select(Body));
                }
                break;
            case "processor":
                var done = new TaskCompletionSource();
                await using (
                    LightQProcessor processor = consumer.CreateProcessor(
                        "t",
                        "g",
                        new ProcessorOptions { Start = StartPosition.Earliest }
                    )
                )
                {
                    processor.ProcessMessageAsync += args =>
                    {
                        lock (got)
                        {
                            got.Add(args.Message.Body.Span[0]);
                            if (got.Count == 10)
                                done.TrySetResult();
                        }
                        return Task.CompletedTask;
                    };
                    processor.ProcessErrorAsync += _ => Task.CompletedTask;
                    await processor.StartAsync(Cancelled);
                    await done.Task.WaitAsync(TimeSpan.FromSeconds(30), Cancelled);
                }
                break;
            default:
                ConsumeOptions options = reader switch
                {
                    "automatic" => earliest with { Group = "g" },
                    "explicit" => earliest with { Group = "g", SettleMode = SettleMode.Explicit },
                    _ => earliest,
                };
                await foreach (Message message in consumer.ConsumeAsync("t", options, Cancelled))
                {
                    got.Add(Body(message));
                    if (reader == "explicit")
                        await message.CompleteAsync(Cancelled);
                    if (got.Count == 10)
                        break;
                }
                break;
        }
        Assert.Equal([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], got.Order().ToArray());
        Assert.Equal(0, consumer.MessagesExpired);

        static byte Body(Message message) => message.Body.Span[0];
    }

    [Theory]
    [InlineData(-300)]
    [InlineData(300)]
    public async Task A_delay_counts_by_the_brokers_clock_and_so_does_the_time_to_live_behind_it(int publishes)
    {
        var machine = new ManualTime();
        await using TestServer server = await TestServer.StartAsync(o =>
            o with
            {
                TimeProvider = machine,
                ConnectionTime = TimeProvider.System,
            }
        );
        await using LightQClient client = Connect(server, publishes);
        await client.Topics.CreateAsync(new TopicSpec("t") { Kind = TopicKind.Durable }, Cancelled);
        await using Producer producer = await client.CreateProducerAsync("t", cancellationToken: Cancelled);
        await producer.PublishAsync(
            new byte[1],
            new PublishOptions { Delay = Minute, TimeToLive = Minute },
            cancellationToken: Cancelled
        );
        await producer.PublishAsync(
            new byte[1],
            new PublishOptions { DeliverAt = machine.GetUtcNow() + Minute + Minute },
            cancellationToken: Cancelled
        );
        await producer.PublishAsync(
            new byte[1],
            new PublishOptions { Delay = ProtocolLimits.LongestDelay },
            cancellationToken: Cancelled
        );
        StoredMessage delayed = (await BrowseAsync(client))[0];
        Assert.Equal(machine.GetUtcNow() + Minute, delayed.DeliverAt);
        Assert.Equal(machine.GetUtcNow() + Minute + Minute, delayed.ExpiresAt);
        machine.Advance(Minute - TimeSpan.FromSeconds(1));
        Assert.Equal([3], (await client.Topics.GetAsync("t", Cancelled)).EndOffsets);
        machine.Advance(TimeSpan.FromSeconds(2));
        await EndsAsync(4);
        Assert.Equal(StoredMessageState.Delivered, (await BrowseAsync(client))[3].State);
        machine.Advance(Minute);
        await EndsAsync(5);
        Assert.Equal(StoredMessageState.Expired, (await BrowseAsync(client))[3].State);

        Task EndsAsync(long end) =>
            Eventually.TrueAsync(
                async () => (await BrowseAsync(client)).Count == end,
                TimeSpan.FromSeconds(30),
                () => "nothing is delivered"
            );
    }

    [Fact]
    public async Task A_delay_is_as_long_as_it_was_when_the_brokers_clock_is_set_for_good()
    {
        var machine = new ManualTime();
        await using TestServer server = await TestServer.StartAsync(o =>
            o with
            {
                TimeProvider = machine,
                ConnectionTime = TimeProvider.System,
            }
        );
        await using var client = new LightQClient(server.ConnectionString);
        await client.Topics.CreateAsync(new TopicSpec("t") { Kind = TopicKind.Durable }, Cancelled);
        await using Producer producer = await client.CreateProducerAsync("t", cancellationToken: Cancelled);
        foreach (int sign in new[] { 1, -1 })
        {
            TopicInfo before = await client.Topics.GetAsync("t", Cancelled);
            long published = before.EndOffsets[0];
            await producer.PublishAsync(
                new byte[1],
                new PublishOptions { Delay = 30 * Minute, TimeToLive = 5 * Minute },
                cancellationToken: Cancelled
            );
            machine.Set += TimeSpan.FromHours(sign);
            await PassAsync(29);
            Assert.Equal(published + 1, (await client.Topics.GetAsync("t", Cancelled)).EndOffsets[0]);
            await PassAsync(3);
            await Eventually.TrueAsync(
                async () => (await BrowseAsync(client)).Count == published + 2,
                TimeSpan.FromSeconds(30),
                () => "nothing is delivered"
            );
            Assert.Equal(StoredMessageState.Delivered, (await BrowseAsync(client))[^1].State);
        }

        async Task PassAsync(int minutes)
        {
            for (int i = 0; i < minutes * 4; i++)
            {
                machine.Advance(TimeSpan.FromSeconds(15));
                await server.Web.GetStringAsync("/healthz/ready", Cancelled); // Looks at the clock.
            }
        }
    }

    [Fact]
    public async Task A_clock_that_is_far_off_is_logged_on_both_sides_and_the_doctor_names_the_client()
    {
        await using TestServer server = await TestServer.StartAsync();
        var log = new RecordedLog();
        await using LightQClient right = Connect(server, 1, "right");
        await right.PingAsync(Cancelled);
        Assert.Equal(CheckResult.Ok, (await ClockChecks.RunAsync(right, Cancelled)).Result);
        await using LightQClient wrong = Connect(server, -3600, "wrong", log);
        await wrong.PingAsync(Cancelled);
        ConnectionInfo shown = (await right.Stats.ListConnectionsAsync(Cancelled)).Single(c => c.ClientName == "wrong");
        Assert.InRange(shown.ClockSkew!.Value.TotalSeconds, -3630, -3600);
        Finding finding = await ClockChecks.RunAsync(right, Cancelled);
        Assert.Equal(CheckResult.Warning, finding.Result);
        Assert.Contains("1 of 2 connections", finding.Found, StringComparison.Ordinal);
        Assert.Contains("'wrong'", finding.Found, StringComparison.Ordinal);
        Assert.Contains("-01:00:0", finding.Found, StringComparison.Ordinal);
        Assert.Single(server.Log.Lines, l => l.Message.Contains("of the client 'wrong'", StringComparison.Ordinal));
        Assert.DoesNotContain(server.Log.Lines, l => l.Message.Contains("'right'", StringComparison.Ordinal));
        Assert.Single(log.Lines, l => l.Message.StartsWith("This machine's clock is -36", StringComparison.Ordinal));
    }

    private static async Task<List<StoredMessage>> BrowseAsync(LightQClient client)
    {
        List<StoredMessage> found = [];
        await foreach (StoredMessage message in client.Messages.BrowseAsync("t", new BrowseOptions(), Cancelled))
            found.Add(message);
        return found;
    }

    private static LightQClient Connect(TestServer server, int ahead, string name = "test", RecordedLog? log = null) =>
        new(
            LightQClientOptions.Parse(server.ConnectionString) with
            {
                TimeProvider = new Shifted(TimeSpan.FromSeconds(ahead)),
                ClientName = name,
                LoggerFactory = log,
            }
        );

    /// <summary>A clock that is wrong by so much.</summary>
    private sealed class Shifted(TimeSpan by) : TimeProvider
    {
        public override DateTimeOffset GetUtcNow() => System.GetUtcNow() + by;
    }
}
