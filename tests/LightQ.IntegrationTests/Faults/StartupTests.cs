using System.Globalization;
using System.Text.Json;
using LightQ.IntegrationTests.Cli;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Faults;

/// <summary>D10: how long recovery takes, measured by the tool's own bench.</summary>
[Collection(FaultCollection.Name)]
[Trait("Fault", "D10")]
[Trait("Tier", "C")]
public sealed class StartupTests
{
    /// <summary>Figures are compared with ten times their target: a test machine may be busy.</summary>
    private const int Tolerance = 10;

    [Fact]
    [Trait("Plain", "no")]
    public async Task After_a_kill_under_load_it_is_ready_soon_and_has_lost_nothing()
    {
        FaultRun.RequireTier("It fills topics first.");
        var run = new FaultRun("D10", "kill -9 under load, time until ready, with a backlog");
        string topics = FaultRun.Times(c: 100, n: 1_000).ToString(CultureInfo.InvariantCulture);
        string backlog = FaultRun.Tier is "N" ? "10GiB" : "1GiB";
        string pairs = FaultRun.Times(c: 2, n: 5).ToString(CultureInfo.InvariantCulture);
        ToolResult result = await LightQTool.RunAsync(
            null,
            "bench",
            "startup",
            "--topics",
            topics,
            "--backlog",
            backlog,
            "--pairs",
            pairs,
            "--output",
            "json"
        );
        Assert.True(result.ExitCode is 0 or 1, result.Errors);

        JsonElement figures = JsonDocument.Parse(result.Text).RootElement.GetProperty("results")[0];
        run.Figure("topics", figures.GetProperty("topics").GetInt64());
        run.Figure("backlog MiB", figures.GetProperty("backlog_bytes").GetInt64() >> 20);
        run.Figure("ready ms", (long)figures.GetProperty("ready_ms").GetDouble());
        run.Figure("ready ms, empty directory", (long)figures.GetProperty("yardstick_ready_ms").GetDouble());
        run.Figure("MiB when ready", figures.GetProperty("broker_ready_rss_bytes").GetInt64() >> 20);
        run.Figure("peak MiB", figures.GetProperty("broker_peak_rss_bytes").GetInt64() >> 20);
        run.Figure("lost", figures.GetProperty("lost").GetInt64());
        run.Report();

        Assert.Equal(0, run["lost"]);
        long target = FaultRun.Tier == "N" ? 2_000 : 1_000;
        Assert.True(
            run["ready ms"] <= Tolerance * target,
            $"ready after {run["ready ms"]} ms; the target is {target}."
        );
    }
}
