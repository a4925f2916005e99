using System.Text.Json;
using LightQ.Cli.Doctor;
using LightQ.Cli.Output;
using LightQ.Client;
using LightQ.Protocol;
using Xunit;
using TopicKind = LightQ.Client.TopicKind;

namespace LightQ.IntegrationTests.Cli;

/// <summary>Retention until all groups have settled, as the tool, the SDK, the doctor and the metrics show it.</summary>
public sealed class RetentionCommandTests
{
    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    public async Task A_topic_is_made_with_it_shown_with_it_and_changed()
    {
        await using TestServer server = await TestServer.StartAsync();
        string url = server.ConnectionString;
        (await LightQTool.RunAsync(url, "topic", "create", "t", "--kind", "durable", "--retention", "settled", "--retention-age", "7d")).Succeeded();
        ToolResult shown = (await LightQTool.RunAsync(url, "topic", "show", "t")).Succeeded();
        Assert.Contains("until all groups have settled, any size, for 7.00:00:00", shown.Text, StringComparison.Ordinal);
        Assert.Equal("settled", Json((await LightQTool.RunAsync(url, "topic", "show", "t", "--output", "json")).Succeeded()).GetProperty("retention").GetString());
        ToolResult changed = (await LightQTool.RunAsync(url, "topic", "ensure", "t", "--retention", "keep")).Succeeded();
        Assert.Contains("retention", changed.Text, StringComparison.Ordinal);
        Assert.Equal("keep", Json((await LightQTool.RunAsync(url, "topic", "show", "t", "--output", "json")).Succeeded()).GetProperty("retention").GetString());

        ToolResult refused = await LightQTool.RunAsync(url, "topic", "create", "u", "--retention", "settled");
        Assert.Equal(ExitCode.Usage, refused.ExitCode);
        Assert.Contains("retention is settled; allowed: keep, for a transient topic.", refused.Errors, StringComparison.Ordinal);
        await using var client = new LightQClient(url);
        LightQException error = await Assert.ThrowsAsync<LightQException>(() => client.Topics.CreateAsync(new TopicSpec("u") { Retention = Retention.Settled }, Cancelled));
        Assert.Equal(ErrorCode.InvalidArgument, error.Code);
    }

    [Fact]
    public async Task Doctor_statistics_and_metrics_name_the_group_that_nobody_uses()
    {
        await using TestServer server = await TestServer.StartAsync();
        string url = server.ConnectionString;
        await using var client = new LightQClient(url);
        await client.Topics.CreateAsync(new TopicSpec("kept") { Kind = TopicKind.Durable }, Cancelled);
        await client.Topics.CreateAsync(new TopicSpec("limited") { Kind = TopicKind.Durable, RetentionAge = TimeSpan.FromDays(1) }, Cancelled);
        await client.Topics.CreateAsync(new TopicSpec("t") { Kind = TopicKind.Durable, Retention = Retention.Settled }, Cancelled);
        Assert.Equal(CheckResult.Ok, (await RetentionChecks.RunAsync(client, Cancelled)).Result);
        (await LightQTool.RunAsync(url, [.. "a\nb\nc\n"u8], "pub", "t", "-")).Succeeded();

        Finding finding = await RetentionChecks.RunAsync(client, Cancelled);
        Assert.Equal((CheckResult.Warning, "3 messages of t are kept, as it has no group yet"), (finding.Result, finding.Found));
        (await LightQTool.RunAsync(url, "sub", "t", "--group", "idle", "--count", "1")).Succeeded();

        Finding held = await RetentionChecks.RunAsync(client, Cancelled);
        Assert.Equal((CheckResult.Warning, "lightq group delete t idle"), (held.Result, held.Fix!.Split(", or ")[1].TrimEnd('.')));
        Assert.Contains("messages of t are kept for the group idle, which nobody uses", held.Found, StringComparison.Ordinal);
        TopicStats stats = await client.Stats.GetTopicAsync("t", Cancelled);
        Assert.Equal("idle", stats.RetentionGroup);
        await Eventually.TrueAsync(async () => (await client.Stats.GetTopicAsync("t", Cancelled)).RetentionMessages == 2, TimeSpan.FromSeconds(30), () => "What was settled is not on the disk.");
        ToolResult table = (await LightQTool.RunAsync(url, "stats", "t")).Succeeded();
        Assert.Contains("2 messages, for the group idle", table.Text, StringComparison.Ordinal);

        string metrics = await server.Web.GetStringAsync("/metrics", Cancelled);
        Assert.Contains("\nlightq_topic_retention_messages{topic=\"t\",group=\"idle\"} 2\n", metrics, StringComparison.Ordinal);
        Assert.Contains("\nlightq_topic_unlimited{topic=\"kept\"} 1\n", metrics, StringComparison.Ordinal);
        Assert.Contains("\nlightq_topic_unlimited{topic=\"limited\"} 0\n", metrics, StringComparison.Ordinal);
        Assert.Contains("\nlightq_topic_unlimited{topic=\"t\"} 0\n", metrics, StringComparison.Ordinal);
        (await LightQTool.RunAsync(url, "group", "delete", "t", "idle", "--yes")).Succeeded();
        Assert.Null((await client.Stats.GetTopicAsync("t", Cancelled)).RetentionGroup);
    }

    private static JsonElement Json(ToolResult result) => JsonDocument.Parse(result.Output).RootElement;
}
