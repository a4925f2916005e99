using System.Text.Json;
using LightQ.Client;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Cli;

/// <summary><c>lightq topic list</c>, <c>group list</c> and <c>group show</c>: what waits, and for whom.</summary>
public sealed class GroupCommandTests
{
    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task Clients_are_counted_and_named_and_what_waits_for_a_group_is_shown_with_the_topic()
    {
        FaultRun.RequireTier("It starts many processes.");
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(
            LightQClientOptions.Parse(server.ConnectionString) with
            {
                ClientName = "billing [7]",
            }
        );
        await client.Topics.CreateAsync(
            new TopicSpec("orders") { Kind = TopicKind.Durable, Partitions = 2 },
            Cancelled
        );
        await client.Topics.CreateAsync(new TopicSpec("quiet") { Kind = TopicKind.Transient }, Cancelled);
        await using Producer producer = await client.CreateProducerAsync("orders", cancellationToken: Cancelled);
        for (int i = 0; i < 5; i++)
            await producer.PublishAsync(BitConverter.GetBytes(i), cancellationToken: Cancelled);
        await using IAsyncEnumerator<Message> orders = client
            .ConsumeAsync(
                "orders",
                new ConsumeOptions
                {
                    Group = "billing",
                    SettleMode = SettleMode.Explicit,
                    MaxInFlight = 1,
                },
                Cancelled
            )
            .GetAsyncEnumerator(Cancelled);
        Assert.True(await orders.MoveNextAsync());
        Assert.Equal(SettleOutcome.Done, await orders.Current.DeadLetterAsync("no", Cancelled));
        await Eventually.TrueAsync(
            async () => (await client.Groups.GetAsync("orders", "billing", Cancelled)).DeadLettered == 1,
            TimeSpan.FromSeconds(30),
            () => "nothing is given up"
        );
        string address = (await client.Stats.ListConnectionsAsync(Cancelled))
            .Single(c => c.SubscribersCount == 2)
            .RemoteAddress;

        JsonElement listed = Assert.Single((await JsonAsync(server, "group", "list")).EnumerateArray().ToArray());
        Assert.Equal((1, 2, 4), (Int(listed, "clients"), Int(listed, "members"), Int(listed, "lag")));
        Assert.True(listed.GetProperty("oldest_unsettled_seconds").GetDouble() > 0);
        string[] row = Row(await TextAsync(server, "group", "list"), "orders");
        Assert.Equal(["orders", "billing", "members", "1", "4"], row[..5]);

        JsonElement shown = await JsonAsync(server, "group", "show", "orders", "billing");
        JsonElement connection = Assert.Single(shown.GetProperty("connections").EnumerateArray().ToArray());
        Assert.Equal(
            ("billing [7]", address, 2),
            (
                connection.GetProperty("client_name").GetString(),
                connection.GetProperty("remote_address").GetString(),
                Int(connection, "members_count")
            )
        );
        Assert.Equal(1, Int(shown, "dead_lettered"));
        string text = await TextAsync(server, "group", "show", "orders", "billing");
        Assert.Contains("running, 1 client, lag 4, the oldest message has waited for ", text, StringComparison.Ordinal);
        Assert.Contains("1 dead-lettered", text, StringComparison.Ordinal);
        Assert.Contains("billing [7]", text, StringComparison.Ordinal);
        Assert.Contains(address, text, StringComparison.Ordinal);

        JsonElement[] topics = [.. (await JsonAsync(server, "topic", "list", "--interval", "none")).EnumerateArray()];
        Assert.Equal(["orders", "orders.dead", "quiet"], topics.Select(t => t.GetProperty("name").GetString()));
        Assert.Equal(
            ("billing", 4, 1),
            (
                topics[0].GetProperty("worst_group").GetString(),
                Int(topics[0], "worst_group_lag"),
                Int(topics[0], "dead_letters")
            )
        );
        Assert.Equal(
            (false, 0, 0),
            (
                topics[2].TryGetProperty("worst_group", out _),
                Int(topics[2], "worst_group_lag"),
                Int(topics[2], "dead_letters")
            )
        );
        Assert.False(topics[0].TryGetProperty("receive_rate", out _));
        Assert.Equal(
            ["orders", "durable", "2", "fsync", "5", "-", "-", "4", "(billing)", "1", "ok"],
            Row(await TextAsync(server, "topic", "list", "--interval", "none"), "orders")
        );
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task Of_a_group_that_has_settled_everything_no_message_waits()
    {
        FaultRun.RequireTier("It starts many processes.");
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await client.Topics.CreateAsync(new TopicSpec("orders") { Kind = TopicKind.Durable }, Cancelled);
        await TextAsync(server, "pub", "orders", "one");
        await TextAsync(server, "sub", "orders", "--group", "billing", "--count", "1");
        await Eventually.TrueAsync(
            async () => await client.Groups.GetAsync("orders", "billing", Cancelled) is { Lag: 0, ClientsCount: 0 },
            TimeSpan.FromSeconds(30),
            () => "the group does not get there"
        );
        string[] row = Row(await TextAsync(server, "group", "list"), "orders");
        Assert.Equal(["orders", "billing", "members", "0", "0", "-", "running"], row);
        string shown = await TextAsync(server, "group", "show", "orders", "billing");
        Assert.Contains("running, 0 clients, lag 0\n", shown, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Rates_are_measured_for_as_long_as_asked()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        await client.Topics.CreateAsync(new TopicSpec("busy") { Kind = TopicKind.Transient }, Cancelled);
        await client.Topics.CreateAsync(new TopicSpec("quiet") { Kind = TopicKind.Transient }, Cancelled);
        await using Producer producer = await client.CreateProducerAsync("busy", cancellationToken: Cancelled);
        using var listed = new CancellationTokenSource();
        async Task PublishAsync()
        {
            while (!listed.IsCancellationRequested)
                await producer.PublishAsync("x"u8.ToArray(), cancellationToken: Cancelled);
        }

        Task publishing = PublishAsync();

        JsonElement[] topics = [.. (await JsonAsync(server, "topic", "list", "--interval", "200ms")).EnumerateArray()];
        await listed.CancelAsync();
        await publishing;

        Assert.True(topics[0].GetProperty("receive_rate").GetDouble() > 0);
        Assert.Equal(
            (0, 0, 0),
            (
                topics[0].GetProperty("send_rate").GetDouble(),
                topics[1].GetProperty("receive_rate").GetDouble(),
                topics[1].GetProperty("send_rate").GetDouble()
            )
        );
        (await LightQTool.RunAsync(server.ConnectionString, "topic", "list", "--interval", "2h")).FailedWith(
            2,
            "--interval is at most 1h."
        );
    }

    private static async Task<string> TextAsync(TestServer server, params string[] command) =>
        (await LightQTool.RunAsync(server.ConnectionString, command)).Succeeded().Text;

    private static async Task<JsonElement> JsonAsync(TestServer server, params string[] command) =>
        JsonDocument.Parse(await TextAsync(server, [.. command, "--output", "json"])).RootElement;

    private static int Int(JsonElement element, string name) => element.GetProperty(name).GetInt32();

    /// <summary>The words of the row that begins with one.</summary>
    private static string[] Row(string table, string first) =>
        table
            .Split('\n')
            .Select(l => l.Split([' ', '│'], StringSplitOptions.RemoveEmptyEntries))
            .First(words => words.Length > 0 && words[0] == first);
}
