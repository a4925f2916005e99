using System.Text.Json;
using LightQ.Cli.Doctor;
using LightQ.Cli.Output;
using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.Server.Diagnosis;
using LightQ.Tests.Shared;
using Xunit;
using TopicKind = LightQ.Client.TopicKind;

namespace LightQ.IntegrationTests.Cli;

/// <summary>
/// Retention until all groups have settled, as the tool, the SDK, the doctor and the metrics show it.
/// </summary>
public sealed class RetentionCommandTests
{
    private static readonly TimeSpan Hour = TimeSpan.FromHours(1),
        Week = TimeSpan.FromDays(7);

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task A_topic_is_made_with_it_shown_with_it_and_changed()
    {
        FaultRun.RequireTier("It starts many processes.");
        await using TestServer server = await TestServer.StartAsync();
        string url = server.ConnectionString;
        (
            await LightQTool.RunAsync(
                url,
                "topic",
                "create",
                "t",
                "--kind",
                "durable",
                "--retention",
                "settled",
                "--retention-age",
                "7d"
            )
        ).Succeeded();
        ToolResult shown = (await LightQTool.RunAsync(url, "topic", "show", "t")).Succeeded();
        const string Kept = "until all groups have settled a message, for 7d, whichever removes first";
        Assert.Contains(Kept, shown.Text, StringComparison.Ordinal);
        Assert.Equal(
            "settled",
            Json((await LightQTool.RunAsync(url, "topic", "show", "t", "--output", "json")).Succeeded())
                .GetProperty("retention")
                .GetString()
        );
        ToolResult changed = (
            await LightQTool.RunAsync(url, "topic", "ensure", "t", "--retention", "keep")
        ).Succeeded();
        Assert.Contains("retention", changed.Text, StringComparison.Ordinal);
        Assert.Equal(
            "keep",
            Json((await LightQTool.RunAsync(url, "topic", "show", "t", "--output", "json")).Succeeded())
                .GetProperty("retention")
                .GetString()
        );
        (await LightQTool.RunAsync(url, "topic", "ensure", "t", "--retention-age", "none")).Succeeded();
        string unlimited = (await LightQTool.RunAsync(url, "topic", "show", "t")).Succeeded().Text;
        string[] row = unlimited.Split('\n').Select(Words).Single(w => w is ["retention", ..]);
        Assert.Equal(["retention", "for", "ever"], row);

        ToolResult refused = await LightQTool.RunAsync(
            url,
            "topic",
            "create",
            "u",
            "--kind",
            "transient",
            "--retention",
            "settled"
        );
        Assert.Equal(ExitCode.Usage, refused.ExitCode);
        Assert.Contains(
            "retention is settled; allowed: keep, for a transient topic.",
            refused.Errors,
            StringComparison.Ordinal
        );
        await using var client = new LightQClient(url);
        LightQException error = await Assert.ThrowsAsync<LightQException>(() =>
            client.Topics.CreateAsync(
                new TopicSpec("u") { Kind = TopicKind.Transient, Retention = Retention.Settled },
                Cancelled
            )
        );
        Assert.Equal(ErrorCode.InvalidArgument, error.Code);
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task Statistics_and_metrics_name_the_group_that_nobody_uses_and_doctor_waits_with_advice()
    {
        FaultRun.RequireTier("It starts many processes.");
        await using TestServer server = await TestServer.StartAsync();
        string url = server.ConnectionString;
        await using var client = new LightQClient(url);
        await client.Topics.CreateAsync(new TopicSpec("kept") { Kind = TopicKind.Durable }, Cancelled);
        await client.Topics.CreateAsync(
            new TopicSpec("limited") { Kind = TopicKind.Durable, RetentionAge = TimeSpan.FromDays(1) },
            Cancelled
        );
        await client.Topics.CreateAsync(
            new TopicSpec("t") { Kind = TopicKind.Durable, Retention = Retention.Settled },
            Cancelled
        );
        Assert.Equal(CheckResult.Ok, (await RetentionChecks.RunAsync(client, Cancelled)).Result);
        (await LightQTool.RunAsync(url, [.. "a\nb\nc\n"u8], "pub", "t", "-")).Succeeded();

        Assert.Equal(CheckResult.Ok, (await RetentionChecks.RunAsync(client, Cancelled)).Result);
        (await LightQTool.RunAsync(url, "sub", "t", "--group", "idle", "--count", "1")).Succeeded();

        Assert.Equal(CheckResult.Ok, (await RetentionChecks.RunAsync(client, Cancelled)).Result);
        TopicStats stats = await client.Stats.GetTopicAsync("t", Cancelled);
        Assert.Equal("idle", stats.RetentionGroup);
        await Eventually.TrueAsync(
            async () => (await client.Stats.GetTopicAsync("t", Cancelled)).RetentionMessages == 2,
            TimeSpan.FromSeconds(30),
            () => "What was settled is not on the disk."
        );
        ToolResult table = (await LightQTool.RunAsync(url, "stats", "t")).Succeeded();
        Assert.Contains("2 messages, for the group idle", table.Text, StringComparison.Ordinal);

        string metrics = await server.Web.GetStringAsync("/metrics", Cancelled);
        Assert.Contains(
            "\nlightq_topic_retention_messages{topic=\"t\",group=\"idle\"} 2\n",
            metrics,
            StringComparison.Ordinal
        );
        Assert.Contains("\nlightq_topic_unlimited{topic=\"kept\"} 1\n", metrics, StringComparison.Ordinal);
        Assert.Contains("\nlightq_topic_unlimited{topic=\"limited\"} 0\n", metrics, StringComparison.Ordinal);
        Assert.Contains("\nlightq_topic_unlimited{topic=\"t\"} 0\n", metrics, StringComparison.Ordinal);
        (await LightQTool.RunAsync(url, "group", "delete", "t", "idle", "--yes")).Succeeded();
        Assert.Null((await client.Stats.GetTopicAsync("t", Cancelled)).RetentionGroup);
    }

    [Fact]
    public async Task Doctor_tells_of_a_topic_without_a_group_and_of_a_group_that_nobody_uses_after_a_week()
    {
        var time = new ManualTime();
        await using TestServer server = await TestServer.StartAsync(o =>
            o with
            {
                TimeProvider = time,
                ConnectionTime = TimeProvider.System,
            }
        );
        await using var client = new LightQClient(server.ConnectionString);
        var topic = new TopicSpec("t") { Kind = TopicKind.Durable, Retention = Retention.Settled };
        await client.Topics.CreateAsync(topic, Cancelled);
        await using Producer producer = await client.CreateProducerAsync("t", cancellationToken: Cancelled);
        await producer.PublishAsync("a"u8, cancellationToken: Cancelled);
        time.Advance(Week - Hour);
        Assert.Equal(CheckResult.Ok, (await RetentionChecks.RunAsync(client, Cancelled)).Result);
        time.Advance(Hour);
        Finding finding = await RetentionChecks.RunAsync(client, Cancelled);
        Assert.Equal(CheckResult.Warning, finding.Result);
        Assert.Equal("1 message of t is kept, as it has no group yet", finding.Found);

        (await LightQTool.RunAsync(server.ConnectionString, "sub", "t", "--group", "idle", "--count", "1")).Succeeded();
        await producer.PublishAsync("b"u8, cancellationToken: Cancelled);
        await Eventually.TrueAsync(
            async () =>
            {
                time.Advance(TimeSpan.FromSeconds(1));
                return (await client.Stats.GetTopicAsync("t", Cancelled)).RetentionMessages == 1;
            },
            TimeSpan.FromSeconds(30),
            () => "What was settled is not on the disk."
        );
        time.Advance(Week - Hour);
        Assert.Equal(CheckResult.Ok, (await RetentionChecks.RunAsync(client, Cancelled)).Result);
        time.Advance(Hour);
        finding = await RetentionChecks.RunAsync(client, Cancelled);
        Assert.Equal(CheckResult.Warning, finding.Result);
        Assert.Equal(
            "1 message of t is kept for the group idle, which no client uses; the oldest has waited for 7 days",
            finding.Found
        );
        Assert.Equal("Start its consumers; if it is no longer needed, lightq group delete t idle.", finding.Fix);

        var options = new ConsumeOptions { Group = "idle", SettleMode = SettleMode.Explicit };
        await using IAsyncEnumerator<Message> back = client
            .ConsumeAsync("t", options, Cancelled)
            .GetAsyncEnumerator(Cancelled);
        Assert.True(await back.MoveNextAsync());
        Assert.Equal(CheckResult.Ok, (await RetentionChecks.RunAsync(client, Cancelled)).Result);
    }

    private static string[] Words(string row) => row.Split([' ', '│'], StringSplitOptions.RemoveEmptyEntries);

    private static JsonElement Json(ToolResult result) => JsonDocument.Parse(result.Output).RootElement;
}
