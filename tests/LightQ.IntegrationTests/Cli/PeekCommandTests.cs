using System.Text.Json;
using LightQ.Client;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Cli;

/// <summary><c>lightq peek</c>, <c>republish</c>, and the commands of <c>group</c> about single dead letters.</summary>
public sealed class PeekCommandTests
{
    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task A_topic_is_shown_as_text_json_and_hex_and_published_again()
    {
        FaultRun.RequireTier("It starts many processes.");
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await client.Topics.CreateAsync(new TopicSpec("orders") { Kind = TopicKind.Durable }, Cancelled);
        Assert.Contains(
            "There is no such message.",
            (await LightQTool.RunAsync(server.ConnectionString, "peek", "orders")).Succeeded().Errors,
            StringComparison.Ordinal
        );
        await TextAsync(server, "pub", "orders", "one\u001b[31m", "--key", "42", "--header", "origin=shop");
        await TextAsync(server, "pub", "orders", "two");
        await TextAsync(server, "pub", "orders", "later", "--delay", "1h", "--header", "origin=shop");

        string[] lines = (await TextAsync(server, "peek", "orders")).Split('\n');
        Assert.StartsWith("0/0  ", lines[0], StringComparison.Ordinal);
        Assert.EndsWith("  key 42  8 bytes", lines[0], StringComparison.Ordinal);
        Assert.Equal(["  origin: shop", "one\\u001b[31m"], lines[1..3]);
        Assert.Contains("  delayed, waiting until ", lines[5], StringComparison.Ordinal);

        JsonElement[] found =
        [
            .. (await TextAsync(server, "peek", "orders", "--from", "earliest", "--format", "json"))
                .Split('\n', StringSplitOptions.RemoveEmptyEntries)
                .Select(line => JsonDocument.Parse(line).RootElement),
        ];
        Assert.Equal([0L, 1, 2], found.Select(m => m.GetProperty("offset").GetInt64()));
        Assert.Equal(["delivered", "delivered", "delayed"], found.Select(m => m.GetProperty("state").GetString()));
        Assert.Equal(
            ("42", "shop", "two"),
            (
                found[0].GetProperty("key").GetString(),
                found[0].GetProperty("headers").GetProperty("origin").GetString(),
                found[1].GetProperty("body").GetString()
            )
        );
        string hex = await TextAsync(server, "peek", "orders/0", "--from", "1", "--count", "1", "--format", "hex");
        Assert.Contains("00000000  74 77 6f ", hex, StringComparison.Ordinal);
        string cut = await TextAsync(server, "peek", "orders", "--key", "42", "--max-bytes", "3");
        Assert.Contains("\none\n... the first 3 of 8 bytes; --max-bytes shows more\n", cut, StringComparison.Ordinal);

        Assert.Equal(
            "Published as orders/0, offset 3.\n",
            await TextAsync(server, "republish", "orders", "--offset", "0", "--body", "fixed", "--no-headers")
        );
        string again = await TextAsync(server, "peek", "orders", "--last", "1");
        Assert.EndsWith("  key 42  5 bytes\nfixed\n", again, StringComparison.Ordinal);
        (await LightQTool.RunAsync(server.ConnectionString, "peek", "orders", "--from", "1", "--last", "1")).FailedWith(
            2,
            "Give --from or --last, not both."
        );
        (await LightQTool.RunAsync(server.ConnectionString, "peek", "orders", "--max-bytes", "2MiB")).FailedWith(
            2,
            "--max-bytes is at most 1MiB."
        );
    }

    [Fact]
    public async Task A_delayed_message_is_shown_as_delivered_once_it_is()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await client.Topics.CreateAsync(new TopicSpec("orders") { Kind = TopicKind.Durable }, Cancelled);
        await TextAsync(server, "pub", "orders", "soon", "--delay", "1ms");
        await Eventually.TrueAsync(
            async () =>
                (await client.Messages.BrowsePageAsync("orders", cancellationToken: Cancelled)).Messages.Count > 1,
            TimeSpan.FromMinutes(1),
            () => "The message was not delivered."
        );
        string[] lines = (await TextAsync(server, "peek", "orders")).Split('\n');
        Assert.Contains("  delivered as offset 1  ", lines[0], StringComparison.Ordinal);
        Assert.Contains("  delivery of the delayed message at offset 0  ", lines[2], StringComparison.Ordinal);
        string first = await TextAsync(server, "peek", "orders", "--from", "0", "--count", "1");
        Assert.Matches("  due since .*, delivered with a later offset  ", first);
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task Dead_letters_are_shown_redriven_published_again_and_deleted()
    {
        FaultRun.RequireTier("It starts many processes.");
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await client.Topics.CreateAsync(new TopicSpec("orders") { Kind = TopicKind.Durable }, Cancelled);
        for (int i = 0; i < 4; i++)
            await TextAsync(server, "pub", "orders", $"body {i}");
        var options = new ConsumeOptions { Group = "billing", SettleMode = SettleMode.Explicit };
        int dead = 0;
        await foreach (Message message in client.ConsumeAsync("orders", options, Cancelled))
        {
            await message.DeadLetterAsync($"no {message.Offset}", Cancelled);
            if (++dead == 4)
                break;
        }
        await Eventually.TrueAsync(
            async () => (await client.Groups.GetAsync("orders", "billing", Cancelled)).DeadLettered == 4,
            TimeSpan.FromSeconds(30),
            () => "the letters do not come"
        );

        string text = await TextAsync(server, "group", "letters", "orders", "billing");
        Assert.Contains("from 0/1  1 delivery  reason: no 1  6 bytes\nbody 1\n", text, StringComparison.Ordinal);
        Assert.Equal(
            "letter 0: redelivered\n",
            await TextAsync(server, "group", "redrive", "orders", "billing", "--offset", "0")
        );
        (
            await LightQTool.RunAsync(
                server.ConnectionString,
                "group",
                "delete-letter",
                "orders",
                "billing",
                "--offset",
                "1"
            )
        ).FailedWith(3, "Give --yes to delete 1 dead letter of the group billing.");
        Assert.StartsWith(
            "letter 1: deleted; ",
            await TextAsync(server, "group", "delete-letter", "orders", "billing", "--offset", "1", "--yes"),
            StringComparison.Ordinal
        );
        Assert.Equal(
            "Published as orders/0, offset 4. The letter is settled.\n",
            await TextAsync(server, "group", "republish", "orders", "billing", "--offset", "2", "--header", "by=alice")
        );
        ToolResult twice = await LightQTool.RunAsync(
            server.ConnectionString,
            "group",
            "redrive",
            "orders",
            "billing",
            "--offset",
            "2",
            "--offset",
            "7"
        );
        Assert.Equal(1, twice.ExitCode);
        Assert.Equal("letter 2: was settled before\nletter 7: not found, or not a letter of this group\n", twice.Text);
        string[] all = (
            await TextAsync(server, "group", "letters", "orders", "billing", "--all", "--format", "json")
        ).Split('\n', StringSplitOptions.RemoveEmptyEntries);
        Assert.Equal(
            [true, true, true, false],
            all.Select(line => JsonDocument.Parse(line).RootElement.GetProperty("settled").GetBoolean())
        );
        Assert.Matches(@"dead letters +4 \(those dealt with included\)", await TextAsync(server, "stats", "orders"));
    }

    private static async Task<string> TextAsync(TestServer server, params string[] command) =>
        (await LightQTool.RunAsync(server.ConnectionString, command)).Succeeded().Text;
}
