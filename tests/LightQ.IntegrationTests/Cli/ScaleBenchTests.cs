using System.Text.Json;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Cli;

/// <summary><c>lightq bench scale</c>, small.</summary>
public sealed class ScaleBenchTests
{
    private static readonly string[] Small =
    [
        "bench",
        "scale",
        "--topics",
        "20",
        "--busy",
        "2",
        "--backlog",
        "4MiB",
        "--subscriptions",
        "5",
        "--connections",
        "20",
        "--messages",
        "20000",
        "--rest",
        "1s",
        "--pairs",
        "1",
    ];

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task Every_dimension_compares_few_with_many_and_delivers_everything()
    {
        FaultRun.RequireTier("It starts eight brokers.");
        using var directory = new TemporaryDirectory();
        string page = Path.Combine(directory.Path, "report.html");

        ToolResult run = (
            await LightQTool.RunAsync(null, [.. Small, "--data", directory.Path, "--output", "json", "--report", page])
        ).Succeeded();

        JsonElement report = JsonDocument.Parse(run.Output).RootElement;
        Assert.Equal("scale", report.GetProperty("scenario").GetString());
        JsonElement[] results = [.. report.GetProperty("results").EnumerateArray()];
        Assert.Equal(
            [("topics", 2L, 20L), ("backlog", 1L << 20, 4L << 20), ("subscriptions", 1L, 5L), ("connections", 0L, 20L)],
            results
                .Select(r => r.GetProperty("scale"))
                .Select(s =>
                    (
                        s.GetProperty("dimension").GetString()!,
                        s.GetProperty("few").GetInt64(),
                        s.GetProperty("many").GetInt64()
                    )
                )
        );
        Assert.All(results, AssertResult);
        Assert.Contains(
            "<svg",
            await File.ReadAllTextAsync(page, TestContext.Current.CancellationToken),
            StringComparison.Ordinal
        );
        Assert.Equal([page], Directory.EnumerateFileSystemEntries(directory.Path));
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task One_dimension_has_a_row_for_people()
    {
        FaultRun.RequireTier("It starts two brokers.");

        ToolResult run = (await LightQTool.RunAsync(null, [.. Small, "--dimension", "connections"])).Succeeded();

        Assert.Contains("what grows", run.Text, StringComparison.Ordinal);
        Assert.Single(
            run.Text.Split('\n'),
            line =>
                line.Contains("connections ", StringComparison.Ordinal)
                && line.Contains("all, in order", StringComparison.Ordinal)
        );
    }

    [Theory]
    [InlineData("--dimension", "users", "'users' is not one of topics, backlog, subscriptions, connections")]
    [InlineData("--topics", "100", "--dimension topics: 100 is not more than 100")]
    public async Task Bad_arguments_are_refused(string option, string value, string problem) =>
        (await LightQTool.RunAsync(null, "bench", "scale", option, value)).FailedWith(2, problem);

    private static void AssertResult(JsonElement result)
    {
        JsonElement scale = result.GetProperty("scale");
        Assert.True(scale.GetProperty("few_rate").GetDouble() > 0 && scale.GetProperty("many_rate").GetDouble() > 0);
        Assert.Equal(
            scale.GetProperty("many_rate").GetDouble() / scale.GetProperty("few_rate").GetDouble(),
            result.GetProperty("ratio").GetDouble(),
            0.01
        );
        Assert.Equal(0, result.GetProperty("lost").GetInt64());
        Assert.True(scale.GetProperty("rest_bytes").GetInt64() > 0);
    }
}
