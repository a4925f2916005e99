using System.Text.Json;
using LightQ.Client;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Cli;

/// <summary><c>lightq journal</c> on the directory of a broker that was stopped, damaged and started again.</summary>
public sealed class JournalCommandTests
{
    private const int Messages = 40;
    private const int Damaged = 1;
    private const int Unconfirmed = 3;
    private const int Unavailable = 69;

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task A_damaged_topic_is_refused_verified_repaired_and_served_with_a_gap()
    {
        FaultRun.RequireTier("It starts many processes.");
        await using TestServer server = await TestServer.StartAsync();
        string journal = await PublishAsync(server);
        (await LightQTool.RunAsync(null, "journal", "verify", server.Directory)).FailedWith(
            Unavailable,
            "in use by a broker"
        );

        await server.RestartAsync(() =>
        {
            JsonElement clean = RunJson(0, "journal", "verify", server.Directory, "--output", "json");
            Assert.Equal("clean", clean.GetProperty("verdict").GetString());
            JsonElement orders = Assert.Single(
                clean.GetProperty("journals").EnumerateArray(),
                j => j.GetProperty("name").GetString() == "orders"
            );
            Assert.Equal(
                (Messages, 0, Messages),
                (
                    orders.GetProperty("messages").GetInt32(),
                    orders.GetProperty("start_offset").GetInt32(),
                    orders.GetProperty("end_offset").GetInt32()
                )
            );
            Damage(journal, 10);
            File.Delete(Path.Combine(journal, "checkpoint"));
        });

        await using (var client = new LightQClient(server.ConnectionString))
        {
            LightQException refused = await Assert.ThrowsAsync<LightQException>(async () =>
                await client.CreateProducerAsync("orders", cancellationToken: Cancelled)
            );
            Assert.Equal(ErrorCode.CorruptData, refused.Code);
            Assert.Contains("offsets 10 to", refused.Message, StringComparison.Ordinal);
            Assert.Contains("lightq journal repair", refused.Message, StringComparison.Ordinal);
            Assert.Equal(refused.Message, (await client.Topics.GetAsync("orders", Cancelled)).Failure);
            await using Producer healthy = await client.CreateProducerAsync("healthy", cancellationToken: Cancelled);
            await healthy.PublishAsync("x"u8, cancellationToken: Cancelled);
        }
        Assert.Contains(
            "degraded",
            await server.Web.GetStringAsync(new Uri("/healthz/ready", UriKind.Relative), Cancelled),
            StringComparison.Ordinal
        );

        await server.RestartAsync(() =>
        {
            JsonElement finding = RunJson(Damaged, "journal", "verify", server.Directory, "--output", "json")
                .GetProperty("journals")
                .EnumerateArray()
                .Single(j => j.GetProperty("name").GetString() == "orders")
                .GetProperty("findings")
                .EnumerateArray()
                .Single(f => f.GetProperty("file").GetString() != "checkpoint");
            Assert.Equal(
                ("damage", 10, 10),
                (
                    finding.GetProperty("kind").GetString(),
                    finding.GetProperty("first_offset").GetInt32(),
                    finding.GetProperty("last_offset").GetInt32()
                )
            );
            byte[] before = File.ReadAllBytes(Segment(journal));
            Assert.Contains(
                "offsets 10 to 10, 1 messages",
                Run(Unconfirmed, "journal", "repair", journal),
                StringComparison.Ordinal
            );
            Assert.Equal(before, File.ReadAllBytes(Segment(journal)));
            JsonElement repaired = Assert.Single(
                RunJson(0, "journal", "repair", server.Directory, "--yes", "--output", "json").EnumerateArray()
            );
            Assert.True(File.Exists(repaired.GetProperty("report").GetString()));
            Assert.Equal(
                "clean",
                RunJson(0, "journal", "verify", server.Directory, "--output", "json").GetProperty("verdict").GetString()
            );
            Assert.Contains(
                "10 gap 1 offsets",
                Run(0, "journal", "dump", journal, "--from", "9", "--to", "11", "--records"),
                StringComparison.Ordinal
            );
        });

        await using (var client = new LightQClient(server.ConnectionString))
        {
            var gaps = new List<MessageGap>();
            var options = new ConsumeOptions { Start = StartPosition.Earliest, OnGap = gaps.Add };
            var bodies = new List<string>();
            await foreach (Message message in client.ConsumeAsync("orders", options, Cancelled))
            {
                bodies.Add(message.GetText());
                if (message.Offset == Messages - 1)
                    break;
            }
            Assert.Equal(Enumerable.Range(0, Messages).Where(i => i != 10).Select(i => $"message {i}"), bodies);
            Assert.Equal([new MessageGap("orders", 10, 10, GapReason.Corrupt)], gaps);
        }
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_topic_whose_files_are_gone_is_refused_until_they_are_back_or_it_is_deleted(bool emptied)
    {
        await using TestServer server = await TestServer.StartAsync();
        string journal = await PublishAsync(server);
        string copy = Path.Combine(server.Directory, "copy");
        await server.RestartAsync(() =>
        {
            Directory.Move(journal, copy);
            if (emptied)
                Directory.CreateDirectory(Path.Combine(journal, "quarantine"));
            else
                Directory.Delete(Path.GetDirectoryName(journal)!);
            Assert.Contains(
                "orders",
                RunJson(Damaged, "journal", "verify", server.Directory, "--output", "json")
                    .GetProperty("missing_topics")
                    .EnumerateArray()
                    .Select(t => t.GetString())
            );
            ToolResult repair = LightQTool
                .RunAsync(null, "journal", "repair", server.Directory, "--yes")
                .GetAwaiter()
                .GetResult();
            Assert.Equal(Damaged, repair.ExitCode);
            Assert.Contains("the topic orders, but its files are gone", repair.Errors, StringComparison.Ordinal);
        });
        await using (var client = new LightQClient(server.ConnectionString))
        {
            LightQException refused = await Assert.ThrowsAsync<LightQException>(async () =>
                await client.CreateProducerAsync("orders", cancellationToken: Cancelled)
            );
            Assert.Equal(ErrorCode.CorruptData, refused.Code);
            Assert.Contains("its journal is gone", refused.Message, StringComparison.Ordinal);
            Assert.DoesNotContain(server.Directory, refused.Message, StringComparison.Ordinal);
            await using Producer healthy = await client.CreateProducerAsync("healthy", cancellationToken: Cancelled);
            await healthy.PublishAsync("x"u8, cancellationToken: Cancelled);
        }
        Assert.Equal(
            "ready, degraded: 1 of 2 topics have failed\n",
            await server.Web.GetStringAsync(new Uri("/healthz/ready", UriKind.Relative), Cancelled)
        );

        await server.RestartAsync(() =>
        {
            if (emptied)
                Directory.Delete(journal, recursive: true);
            Directory.CreateDirectory(Path.GetDirectoryName(journal)!);
            Directory.Move(copy, journal);
            Assert.Equal(
                "clean",
                RunJson(0, "journal", "verify", server.Directory, "--output", "json").GetProperty("verdict").GetString()
            );
        });
        Assert.Equal(Messages, server.Broker.GetTopic("orders").Partitions[0].Log.ReadableOffset);

        await server.RestartAsync(() => Directory.Delete(Path.GetDirectoryName(journal)!, recursive: true));
        await using (var client = new LightQClient(server.ConnectionString))
        {
            await client.Topics.DeleteAsync("orders", Cancelled);
            await client.Topics.CreateAsync(new TopicSpec("orders") { Kind = TopicKind.Durable }, Cancelled);
            await using Producer producer = await client.CreateProducerAsync("orders", cancellationToken: Cancelled);
            Assert.Equal(0, (await producer.PublishAsync("x"u8, cancellationToken: Cancelled)).Offset);
        }
        Assert.Equal(
            "ready\n",
            await server.Web.GetStringAsync(new Uri("/healthz/ready", UriKind.Relative), Cancelled)
        );
    }

    [Fact]
    public async Task A_dump_shows_batches_and_records_in_lines_of_JSON()
    {
        await using TestServer server = await TestServer.StartAsync();
        await PublishAsync(server);
        await server.RestartAsync(() =>
        {
            JsonElement[] lines =
            [
                .. Run(
                        0,
                        "journal",
                        "dump",
                        server.Directory,
                        "--from",
                        "5",
                        "--to",
                        "6",
                        "--records",
                        "--output",
                        "json"
                    )
                    .Split('\n', StringSplitOptions.RemoveEmptyEntries)
                    .Select(l => JsonDocument.Parse(l).RootElement),
            ];
            Assert.Equal(["batch", "record", "batch", "record"], lines.Select(l => l.GetProperty("type").GetString()));
            Assert.All(
                lines.Where(l => l.GetProperty("type").GetString() == "batch"),
                l => Assert.True(l.GetProperty("valid").GetBoolean())
            );
            Assert.Equal(
                (5, "message 5", "k"),
                (
                    lines[1].GetProperty("offset").GetInt32(),
                    lines[1].GetProperty("body").GetString(),
                    lines[1].GetProperty("key").GetString()
                )
            );
        });
    }

    [Fact]
    public async Task What_is_no_data_directory_is_said()
    {
        using var directory = new TemporaryDirectory();
        (await LightQTool.RunAsync(null, "journal", "verify", directory.Path)).FailedWith(
            1,
            "neither a data directory"
        );
        (await LightQTool.RunAsync(null, "journal", "verify", Path.Combine(directory.Path, "nothing"))).FailedWith(
            1,
            "no directory"
        );
        Assert.Empty(Directory.GetFileSystemEntries(directory.Path));
    }

    /// <returns>The directory of the topic's journal.</returns>
    private static async Task<string> PublishAsync(TestServer server)
    {
        Broker.Topics.Topic topic = await server.CreateTopicAsync("orders", Broker.Topics.TopicKind.Durable);
        await server.CreateTopicAsync("healthy", Broker.Topics.TopicKind.Durable);
        await using var client = new LightQClient(server.ConnectionString);
        await using Producer producer = await client.CreateProducerAsync("orders", cancellationToken: Cancelled);
        for (int i = 0; i < Messages; i++)
        {
            await producer.PublishAsync(
                System.Text.Encoding.UTF8.GetBytes($"message {i}"),
                key: "k",
                cancellationToken: Cancelled
            );
        }

        return Path.Combine(server.Directory, "topics", topic.Id.ToString("N"), "0");
    }

    private static string Segment(string journal) =>
        Directory.GetFiles(journal, "*.seg").Order(StringComparer.Ordinal).First();

    /// <summary>Flips a bit in the header of a message's batch; each message is a batch of its own.</summary>
    private static void Damage(string journal, int message)
    {
        byte[] bytes = File.ReadAllBytes(Segment(journal));
        int at = 4096;
        for (int i = 0; i < message; i++)
            at += BitConverter.ToInt32(bytes, at);
        bytes[at + 40] ^= 1;
        File.WriteAllBytes(Segment(journal), bytes);
    }

    private static JsonElement RunJson(int exitCode, params string[] arguments) =>
        JsonDocument.Parse(Run(exitCode, arguments)).RootElement;

    private static string Run(int exitCode, params string[] arguments)
    {
        ToolResult result = LightQTool.RunAsync(null, arguments).GetAwaiter().GetResult();
        Assert.True(result.ExitCode == exitCode, $"exit code {result.ExitCode}: {result.Errors}{result.Text}");
        return result.Text;
    }
}
