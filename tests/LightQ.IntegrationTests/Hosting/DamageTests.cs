using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.IntegrationTests.Cli;
using LightQ.IntegrationTests.Faults;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Hosting;

/// <summary>A bit that turns on the disk of a running broker.</summary>
public sealed class DamageTests
{
    private const int Messages = 40;
    private const int Damaged = 17;
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Damage_is_found_without_a_consumer_told_everywhere_once_and_a_gap_for_consumers()
    {
        await using TestServer server = await TestServer.StartAsync(o =>
            o with
            {
                Broker = o.Broker with { ScrubInterval = TimeSpan.FromMilliseconds(50) },
            }
        );
        Broker.Topics.Topic topic = await server.CreateTopicAsync("orders", Broker.Topics.TopicKind.Durable);
        await server.CreateTopicAsync("healthy", Broker.Topics.TopicKind.Durable);
        await using (var client = new LightQClient(server.ConnectionString))
        await using (Producer producer = await client.CreateProducerAsync("orders", cancellationToken: Cancelled))
        {
            for (int i = 0; i < Messages; i++)
            {
                await producer.PublishAsync(
                    System.Text.Encoding.UTF8.GetBytes($"message {i}"),
                    cancellationToken: Cancelled
                );
            }
        }
        await PassesAsync(server, 2);
        Assert.Equal("ready\n", await server.Web.GetStringAsync("/healthz/ready", Cancelled));
        await server.RestartAsync(); // What the broker has written itself it sends from memory.

        int bytes = FlipBit(
            Directory
                .GetFiles(Path.Combine(server.Directory, "topics", topic.Id.ToString("N"), "0"), "*.seg")
                .Order(StringComparer.Ordinal)
                .First()
        );
        await PassesAsync(server, 2);
        Assert.Equal(
            "ready, degraded: 1 of 2 topics have damaged messages\n",
            await server.Web.GetStringAsync("/healthz/ready", Cancelled)
        );
        string[] metrics = (await server.Web.GetStringAsync("/metrics", Cancelled)).Split('\n');
        Assert.Contains("lightq_topic_damaged_ranges{topic=\"orders\"} 1", metrics);
        Assert.Contains($"lightq_topic_damaged_bytes{{topic=\"orders\"}} {bytes}", metrics);
        Assert.Contains("lightq_topic_damaged_ranges{topic=\"healthy\"} 0", metrics);
        Assert.DoesNotContain("lightq_scrubbed_bytes_total 0", metrics);
        Assert.Contains(
            $"offsets {Damaged} to {Damaged} in 00000000000000000001.seg",
            (await LightQTool.RunAsync(server.ConnectionString, "topic", "show", "orders")).Succeeded().Text,
            StringComparison.Ordinal
        );

        await using (var client = new LightQClient(server.ConnectionString))
        {
            DamagedRange range = Assert.Single((await client.Topics.GetAsync("orders", Cancelled)).Damage);
            Assert.Equal(
                (Damaged, Damaged, "00000000000000000001.seg", bytes),
                (range.FirstOffset, range.LastOffset, range.File, range.Bytes)
            );
            var gaps = new List<MessageGap>();
            var read = new List<string>();
            await foreach (
                Message message in client.ConsumeAsync(
                    "orders",
                    new ConsumeOptions { Start = StartPosition.Earliest, OnGap = gaps.Add },
                    Cancelled
                )
            )
            {
                read.Add(message.GetText());
                if (message.Offset == Messages - 1)
                    break;
            }
            Assert.Equal(Enumerable.Range(0, Messages).Where(i => i != Damaged).Select(i => $"message {i}"), read);
            Assert.Equal([new MessageGap("orders", Damaged, Damaged, GapReason.Corrupt)], gaps);
        }
        await PassesAsync(server, 2);
        Assert.Single(
            server.Log.Errors,
            e =>
                e.StartsWith(
                    $"Topic orders is damaged: subscribers get a gap at offsets {Damaged} to {Damaged}",
                    StringComparison.Ordinal
                )
        );
    }

    /// <summary>
    /// Recovery after kill -9 knows from headers alone where the log ends: one damaged message is a gap, and every
    /// other one is served.
    /// </summary>
    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task A_message_that_was_damaged_while_the_broker_lay_killed_is_a_gap_that_the_start_reports()
    {
        FaultRun.RequireTier("It kills a broker.");
        using var directory = new TemporaryDirectory();
        await using var broker = new FaultBroker(directory.Path);
        await broker.StartAsync();
        await using (LightQClient client = broker.Connect())
        {
            await client.Topics.CreateAsync(new TopicSpec("orders") { Kind = TopicKind.Durable }, Cancelled);
            await using Producer producer = await client.CreateProducerAsync("orders", cancellationToken: Cancelled);
            for (int i = 0; i < Messages; i++)
            {
                await producer.PublishAsync(
                    System.Text.Encoding.UTF8.GetBytes($"message {i}"),
                    cancellationToken: Cancelled
                );
            }
        }
        await broker.KillAsync();
        FlipBit(
            Directory.GetFiles(Path.Combine(directory.Path, "topics"), "*.seg", SearchOption.AllDirectories).Single()
        );
        ToolResult verified = await LightQTool.RunAsync(null, "journal", "verify", directory.Path);
        Assert.NotEqual(0, verified.ExitCode);
        Assert.Contains($"offsets {Damaged} to {Damaged}", verified.Text + verified.Errors, StringComparison.Ordinal);

        await broker.StartAsync();

        using var web = new HttpClient();
        Assert.Equal(
            "ready, degraded: 1 of 1 topics have damaged messages\n",
            await web.GetStringAsync(new Uri($"http://127.0.0.1:{broker.WebPort}/healthz/ready"), Cancelled)
        );
        Assert.Contains(
            $"Topic orders is damaged: subscribers get a gap at offsets {Damaged} to {Damaged}",
            broker.Log,
            StringComparison.Ordinal
        );
        await using (LightQClient client = broker.Connect())
        {
            await using Producer producer = await client.CreateProducerAsync("orders", cancellationToken: Cancelled);
            Assert.Equal(
                Messages,
                (await producer.PublishAsync("behind it"u8.ToArray(), cancellationToken: Cancelled)).Offset
            );
            var gaps = new List<MessageGap>();
            var read = new List<long>();
            await foreach (
                Message message in client.ConsumeAsync(
                    "orders",
                    new ConsumeOptions { Start = StartPosition.Earliest, OnGap = gaps.Add },
                    Cancelled
                )
            )
            {
                read.Add(message.Offset);
                if (message.Offset == Messages)
                    break;
            }
            Assert.Equal(Enumerable.Range(0, Messages + 1).Where(i => i != Damaged).Select(i => (long)i), read);
            Assert.Equal([new MessageGap("orders", Damaged, Damaged, GapReason.Corrupt)], gaps);
        }
    }

    /// <summary>Waits until so many passes have begun and ended; the one under way does not count.</summary>
    private static Task PassesAsync(TestServer server, long passes)
    {
        long until = server.Broker.ScrubPasses + passes;
        return Eventually.TrueAsync(
            () => server.Broker.ScrubPasses >= until,
            Patience,
            () => $"{server.Broker.ScrubPasses} passes"
        );
    }

    /// <summary>Turns a bit of a message; each message is a batch of its own.</summary>
    /// <returns>The batch's length.</returns>
    private static int FlipBit(string segment)
    {
        byte[] bytes = File.ReadAllBytes(segment);
        int at = 4096;
        for (int i = 0; i < Damaged; i++)
            at += BitConverter.ToInt32(bytes, at);
        using var file = new FileStream(segment, FileMode.Open, FileAccess.Write, FileShare.ReadWrite)
        {
            Position = at + 100,
        };
        file.WriteByte((byte)(bytes[at + 100] ^ 1));
        return BitConverter.ToInt32(bytes, at);
    }
}
