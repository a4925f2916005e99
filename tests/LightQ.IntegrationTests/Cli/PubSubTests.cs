using System.Diagnostics;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;
using LightQ.Client;
using LightQ.IntegrationTests.Faults;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Cli;

/// <summary>What goes in at <c>pub --file</c> comes out at <c>sub --format raw</c>, byte by byte.</summary>
public sealed class PubSubTests
{
    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task A_big_text_survives_SIGTERM_and_SIGKILL_in_a_durable_topic()
    {
        FaultRun.RequireTier("It starts a broker three times.");
        using var directory = new TemporaryDirectory();
        string text = Path.Combine(directory.Path, "text"),
            data = Path.Combine(directory.Path, "data");
        await RealText.WriteAsync(text, Cancelled);
        byte[] expected = [.. await File.ReadAllBytesAsync(text, Cancelled), (byte)'\n'];

        await using (ToolServer server = await ToolServer.StartAsync(data))
        {
            (await LightQTool.RunAsync(server.Url, "topic", "create", "text", "--kind", "durable")).Succeeded();
            (await LightQTool.RunAsync(server.Url, "pub", "text", "--file", text)).Succeeded();
            Assert.Equal(Sha256(expected), await ReadBackAsync(server.Url, expected));
            Assert.Equal(0, await server.SignalAsync("TERM"));
        }
        await using (ToolServer server = await ToolServer.StartAsync(data))
        {
            Assert.Equal(Sha256(expected), await ReadBackAsync(server.Url, expected));
            Assert.NotEqual(0, await server.SignalAsync("KILL"));
        }
        await using (ToolServer server = await ToolServer.StartAsync(data))
            Assert.Equal(Sha256(expected), await ReadBackAsync(server.Url, expected));
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task A_big_text_passes_a_transient_topic_to_who_subscribed_before()
    {
        FaultRun.RequireTier("It moves a big text through several processes.");
        using var directory = new TemporaryDirectory();
        string text = Path.Combine(directory.Path, "text");
        await RealText.WriteAsync(text, Cancelled);
        byte[] expected = [.. await File.ReadAllBytesAsync(text, Cancelled), (byte)'\n'];
        await using ToolServer server = await ToolServer.StartAsync(Path.Combine(directory.Path, "data"));
        (await LightQTool.RunAsync(server.Url, "topic", "create", "text")).Succeeded();

        Task<ToolResult> reading = LightQTool.RunAsync(
            server.Url,
            "sub",
            "text",
            "--format",
            "raw",
            "--count",
            Lines(expected)
        );
        await SubscribersAsync(server.Url, "text", 1);
        ToolResult published = (
            await LightQTool.RunAsync(server.Url, "pub", "text", "--file", text, "--output", "json")
        ).Succeeded();
        ToolResult read = (await reading).Succeeded();

        Assert.Equal(Sha256(expected), Sha256(read.Output));
        Assert.Equal(
            Lines(expected),
            JsonDocument.Parse(published.Output).RootElement.GetProperty("messages").GetRawText()
        );
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task Standard_input_keys_and_headers_come_out_as_json()
    {
        FaultRun.RequireTier("It starts many processes.");
        using var directory = new TemporaryDirectory();
        await using ToolServer server = await ToolServer.StartAsync(directory.Path);
        (await LightQTool.RunAsync(server.Url, "topic", "create", "t", "--kind", "durable")).Succeeded();
        (
            await LightQTool.RunAsync(
                server.Url,
                [.. "one\r\n\n"u8, 0xFF, (byte)'\n'],
                "pub",
                "t",
                "-",
                "--key",
                "k",
                "--header",
                "a=b"
            )
        ).Succeeded();

        ToolResult read = (
            await LightQTool.RunAsync(server.Url, "sub", "t", "--from", "earliest", "--count", "3", "--format", "json")
        ).Succeeded();

        JsonElement[] messages =
        [
            .. read.Text.TrimEnd().Split('\n').Select(line => JsonDocument.Parse(line).RootElement),
        ];
        Assert.Equal([0, 1, 2], messages.Select(m => m.GetProperty("offset").GetInt32()));
        Assert.All(
            messages,
            m =>
                Assert.Equal(
                    ("k", "b"),
                    (m.GetProperty("key").GetString(), m.GetProperty("headers").GetProperty("a").GetString())
                )
        );
        Assert.Equal(["one\r", ""], messages.Take(2).Select(m => m.GetProperty("body").GetString()));
        Assert.Equal("/w==", messages[2].GetProperty("body_base64").GetString());
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task A_whole_file_is_one_message_and_comes_back_as_bytes()
    {
        FaultRun.RequireTier("It starts six processes.");
        using var directory = new TemporaryDirectory();
        string file = Path.Combine(directory.Path, "file");
        byte[] content = [.. Enumerable.Range(0, 300_000).Select(i => (byte)(i * 7))];
        await File.WriteAllBytesAsync(file, content, Cancelled);
        await using ToolServer server = await ToolServer.StartAsync(Path.Combine(directory.Path, "data"));
        (await LightQTool.RunAsync(server.Url, "topic", "create", "t", "--kind", "durable")).Succeeded();
        (await LightQTool.RunAsync(server.Url, "pub", "t", "--file", file, "--whole-file")).Succeeded();

        ToolResult read = (
            await LightQTool.RunAsync(
                server.Url,
                "sub",
                "t",
                "--from",
                "earliest",
                "--idle-exit",
                "1s",
                "--format",
                "bytes"
            )
        ).Succeeded();

        Assert.Equal(content, read.Output);
    }

    [Fact]
    public async Task Ctrl_C_ends_a_subscription_well()
    {
        IgnoredSignal.SkipIf(IgnoredSignal.Interrupt);
        using var directory = new TemporaryDirectory();
        await using ToolServer server = await ToolServer.StartAsync(directory.Path);
        (await LightQTool.RunAsync(server.Url, "topic", "create", "t")).Succeeded();
        using Process subscriber = LightQTool.Start(server.Url, "sub", "t");
        await SubscribersAsync(server.Url, "t", 1);
        (await LightQTool.RunAsync(server.Url, "pub", "t", "hello")).Succeeded();
        Assert.Equal("hello", await subscriber.StandardOutput.ReadLineAsync(Cancelled));

        using Process kill = Process.Start(
            "kill",
            ["-INT", subscriber.Id.ToString(System.Globalization.CultureInfo.InvariantCulture)]
        );
        await LightQTool.EndAsync(subscriber);

        Assert.Equal((0, ""), (subscriber.ExitCode, await subscriber.StandardError.ReadToEndAsync(Cancelled)));
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task A_subscription_that_has_lost_its_broker_says_so_and_when_it_is_back()
    {
        FaultRun.RequireTier("It starts a broker twice.");
        using var directory = new TemporaryDirectory();
        await using var broker = new FaultBroker(directory.Path);
        await broker.StartAsync();
        string url = FormattableString.Invariant($"lightq://127.0.0.1:{broker.DataPort}?control={broker.ControlPort}");
        (await LightQTool.RunAsync(url, "topic", "create", "t", "--kind", "durable")).Succeeded();
        using Process subscriber = LightQTool.Start(url, "sub", "t");
        await SubscribersAsync(url, "t", 1);

        await broker.KillAsync();
        Assert.StartsWith(
            "lightq: the connection was lost, trying again: ",
            await subscriber.StandardError.ReadLineAsync(Cancelled),
            StringComparison.Ordinal
        );
        await broker.StartAsync();
        Assert.Equal("lightq: connected again.", await subscriber.StandardError.ReadLineAsync(Cancelled));

        subscriber.Kill();
        await LightQTool.EndAsync(subscriber);
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task A_start_beyond_the_end_says_what_it_waits_for()
    {
        FaultRun.RequireTier("It starts many processes.");
        using var directory = new TemporaryDirectory();
        await using ToolServer server = await ToolServer.StartAsync(directory.Path);
        Assert.Contains(
            "after 5 minutes without use",
            (await LightQTool.RunAsync(server.Url, "topic", "create", "t", "--kind", "transient")).Succeeded().Text,
            StringComparison.Ordinal
        );
        Assert.StartsWith(
            "Published 1 message, 5 bytes, ",
            (await LightQTool.RunAsync(server.Url, "pub", "t", "hello")).Succeeded().Text,
            StringComparison.Ordinal
        );

        ToolResult beyond = (
            await LightQTool.RunAsync(server.Url, "sub", "t", "--from", "500", "--idle-exit", "100ms")
        ).Succeeded();
        ToolResult within = (
            await LightQTool.RunAsync(server.Url, "sub", "t", "--from", "0", "--idle-exit", "1s")
        ).Succeeded();

        Assert.Equal(("", "lightq: t ends before offset 1; waiting for offset 500.\n"), (beyond.Text, beyond.Errors));
        Assert.Equal(("hello\n", ""), (within.Text, within.Errors));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_member_of_a_group_that_cannot_settle_has_the_broker_settle(bool isDurable)
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync(
            "t",
            isDurable ? Broker.Topics.TopicKind.Durable : Broker.Topics.TopicKind.Transient
        );
        await using var client = new LightQClient(server.ConnectionString);
        await using Producer producer = await client.CreateProducerAsync("t", cancellationToken: Cancelled);
        await using IAsyncEnumerator<Message> automatic = client
            .ConsumeAsync("t", new ConsumeOptions { Group = "g" }, Cancelled)
            .GetAsyncEnumerator(Cancelled);
        ValueTask<bool> first = automatic.MoveNextAsync();
        await producer.PublishAsync("one"u8, cancellationToken: Cancelled);
        Assert.True(await first);

        using Process subscriber = LightQTool.Start(
            server.ConnectionString,
            "sub",
            "t",
            "--group",
            "g",
            "--count",
            "1"
        );
        await SubscribersAsync(server.ConnectionString, "t", 2);
        await automatic.DisposeAsync();
        await SubscribersAsync(server.ConnectionString, "t", 1);
        await producer.PublishAsync("two"u8, cancellationToken: Cancelled);

        Assert.Equal("two", await subscriber.StandardOutput.ReadLineAsync(Cancelled));
        await LightQTool.EndAsync(subscriber);
        Assert.Equal((0, ""), (subscriber.ExitCode, await subscriber.StandardError.ReadToEndAsync(Cancelled)));
    }

    [Fact]
    public async Task A_member_that_filters_settles_up_to_the_last_message_that_it_has_written()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("t", Broker.Topics.TopicKind.Durable);
        await using var client = new LightQClient(server.ConnectionString);
        await using (Producer producer = await client.CreateProducerAsync("t", cancellationToken: Cancelled))
        {
            foreach (string kind in new[] { "a", "b", "a", "b", "a" })
            {
                Assert.True(
                    producer.TryPublish(Encoding.UTF8.GetBytes(kind), default, new MessageHeaders { { "kind", kind } })
                );
            }

            await producer.FlushAsync(Cancelled);
        }

        ToolResult read = await LightQTool.RunAsync(
            server.ConnectionString,
            "sub",
            "t",
            "--group",
            "g",
            "--filter",
            "kind = 'b'",
            "--count",
            "1"
        );

        Assert.Equal("b\n", read.Succeeded().Text);
        Assert.Equal(2, Assert.Single((await client.Groups.GetAsync("t", "g", Cancelled)).Partitions).CommittedOffset);
    }

    private static async Task<string> ReadBackAsync(string url, byte[] expected) =>
        Sha256(
            (
                await LightQTool.RunAsync(
                    url,
                    "sub",
                    "text",
                    "--from",
                    "earliest",
                    "--format",
                    "raw",
                    "--count",
                    Lines(expected)
                )
            )
                .Succeeded()
                .Output
        );

    private static string Lines(byte[] text) =>
        text.AsSpan().Count((byte)'\n').ToString(System.Globalization.CultureInfo.InvariantCulture);

    private static string Sha256(byte[] bytes) => Convert.ToHexString(SHA256.HashData(bytes));

    private static async Task SubscribersAsync(string url, string topic, int count)
    {
        while (true)
        {
            ToolResult stats = (await LightQTool.RunAsync(url, "stats", topic, "--output", "json")).Succeeded();
            if (JsonDocument.Parse(stats.Output).RootElement.GetProperty("subscribers_count").GetInt32() == count)
                return;
        }
    }
}
