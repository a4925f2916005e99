using System.Text.Json;
using LightQ.Bench.Nats;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Cli;

/// <summary><c>lightq cluster try</c> with three nats-servers and three brokers.</summary>
public sealed class ClusterTryTests
{
    private const int Usage = 2;

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task Every_fault_is_done_and_costs_no_message()
    {
        FaultRun.RequireTier("Each fault takes some seconds.");
        RequireServer();
        using var directory = new TemporaryDirectory();
        ToolResult run = (
            await LightQTool.RunAsync(
                null,
                "cluster",
                "try",
                "--folder",
                directory.Path,
                "--nemesis",
                "all",
                "--every",
                "1s",
                "--for",
                "60s",
                "--output",
                "json"
            )
        ).Succeeded();

        string[] lines = run.Text.Split('\n', StringSplitOptions.RemoveEmptyEntries);
        JsonElement result = JsonDocument.Parse(lines[^1]).RootElement;
        Assert.Equal(0, result.GetProperty("lost").GetInt64());
        Assert.Equal(0, result.GetProperty("duplicated").GetInt64());
        Assert.Equal(result.GetProperty("acknowledged").GetInt64(), result.GetProperty("consumed").GetInt64());
        JsonElement[] faults = [.. result.GetProperty("faults").EnumerateArray()];
        Assert.Equal(
            ["kill-broker", "stop-broker", "pause-broker", "kill-engine", "pause-engine", "kill-all"],
            faults.Select(fault => fault.GetProperty("fault").GetString())
        );
        Assert.All(faults, fault => Assert.True(fault.GetProperty("longest_silence_ms").GetDouble() > 0));
    }

    [Theory]
    [InlineData("'unplug' is not one of kill-broker, stop-broker,", "--nemesis", "kill-broker,unplug")]
    [InlineData("give one of them", "--nemesis", "all", "--kill-every", "5s")]
    [InlineData("--nemesis, which is missing", "--every", "5s")]
    public async Task Faults_that_are_not_known_or_do_not_go_together_are_usage(string said, params string[] options)
    {
        ToolResult run = await LightQTool.RunAsync(null, ["cluster", "try", .. options]);

        run.FailedWith(Usage, said);
    }

    private static void RequireServer() => Assert.SkipWhen(NatsServer.Find() is null, "nats-server is not installed.");
}
