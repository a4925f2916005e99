using System.Text.Json;
using LightQ.Bench.Nats;
using LightQ.Cli.Doctor;
using LightQ.Cli.Output;
using LightQ.ClusterTests.Nats;
using LightQ.Server;
using LightQ.Server.Diagnosis;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Cli;

/// <summary><c>lightq bench cluster</c> and <c>lightq doctor</c> with three nats-servers.</summary>
public sealed class ClusterBenchTests
{
    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task It_measures_every_part_and_leaves_nothing_behind()
    {
        FaultRun.RequireTier("It takes some twenty seconds.");
        RequireServer();
        using var directory = new TemporaryDirectory();
        ToolResult run = (
            await LightQTool.RunAsync(
                null,
                "bench",
                "cluster",
                "--for",
                "300ms",
                "--partitions",
                "2",
                "--batch",
                "16KiB",
                "--data",
                directory.Path,
                "--output",
                "json"
            )
        ).Succeeded();

        JsonElement report = JsonDocument.Parse(run.Output).RootElement;
        Assert.Equal("cluster", report.GetProperty("scenario").GetString());
        Assert.Equal(2, report.GetProperty("partitions").GetInt32());
        foreach (
            string figure in new[]
            {
                "lightq_mib_per_second",
                "run_bytes",
                "engine_one_at_a_time_mib_per_second",
                "engine_pipelined_mib_per_second",
                "ratio_one_at_a_time",
                "ratio_pipelined",
            }
        )
        {
            Assert.True(report.GetProperty(figure).GetDouble() > 0, figure);
        }
        foreach (string who in new[] { "lightq_latency_ms", "engine_latency_ms" })
        {
            JsonElement latency = report.GetProperty(who);
            Assert.InRange(latency.GetProperty("p50").GetDouble(), 0.001, latency.GetProperty("p99").GetDouble());
        }
        Assert.Equal(
            [100, 1024],
            report.GetProperty("messages").EnumerateArray().Select(m => m.GetProperty("bytes").GetInt32())
        );
        Assert.Empty(Directory.EnumerateFileSystemEntries(directory.Path));
    }

    [Fact]
    public async Task Options_that_do_not_go_together_are_refused()
    {
        (await LightQTool.RunAsync(null, "bench", "cluster", "--server", "lightq://127.0.0.1")).FailedWith(
            ExitCode.Usage,
            "--server needs --engine: the servers of its cluster."
        );
        (
            await LightQTool.RunAsync(null, "bench", "cluster", "--sync-always", "--engine", "nats://127.0.0.1:1")
        ).FailedWith(ExitCode.Usage, "--sync-always is for servers that are started here.");
        (await LightQTool.RunAsync(null, "bench", "cluster", "--batch", "2MiB")).FailedWith(
            ExitCode.Usage,
            "--batch: 2097152 is not a size from 2KiB to 1MiB."
        );
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task The_doctor_looks_at_the_servers_and_finds_one_that_is_gone()
    {
        FaultRun.RequireTier("It starts three servers and many processes.");
        RequireServer();
        await using NatsCluster servers = await NatsCluster.StartAsync(NatsCluster.FindProgram()!);
        var cluster = new ClusterOptions
        {
            Engine = string.Join(',', servers.Addresses),
            Monitoring = string.Join(',', servers.Monitoring),
        };
        IReadOnlyList<Finding> findings = await new ClusterChecks(cluster).RunAsync();

        Assert.Equal(CheckResult.Ok, Of(findings, "cluster's servers").Result);
        Assert.Equal("3 servers", Of(findings, "cluster's size").Found);
        Assert.Equal(CheckResult.Ok, Of(findings, "cluster's max_payload").Result);
        Assert.Equal(CheckResult.Failed, Of(findings, "cluster's sync").Result);
        Assert.Contains("median", Of(findings, "cluster's append").Found, StringComparison.Ordinal);
        Assert.Contains("on 3 servers", Of(findings, "cluster's append").Check, StringComparison.Ordinal);
        Assert.Equal(
            CheckResult.Warning,
            Of(await new ClusterChecks(cluster with { RequireSync = false }).RunAsync(), "cluster's sync").Result
        );

        findings = await new ClusterChecks(cluster with { Monitoring = null }).RunAsync();
        Assert.Equal("at least 3 servers", Of(findings, "cluster's size").Found);

        await servers.KillAsync(2);
        findings = await new ClusterChecks(cluster).RunAsync();
        Assert.Contains(findings, f => f is { Check: "cluster's servers", Result: CheckResult.Failed });
        await servers.KillAsync(0);
        await servers.KillAsync(1);
        Finding none = Assert.Single(await new ClusterChecks(cluster).RunAsync());
        Assert.Equal(CheckResult.Failed, none.Result);

        servers.Start(0);
        servers.Start(1);
        servers.Start(2);
        await servers.WaitUntilReadyAsync();
        findings = await new ClusterChecks(cluster).RunAsync();
        Assert.Equal("3 servers", Of(findings, "cluster's size").Found);
    }

    [Theory]
    [InlineData(CheckResult.Failed, "2.9.10")]
    [InlineData(CheckResult.Failed, "2.12.3", "2.10.22")]
    [InlineData(CheckResult.Warning, "2.10.23")]
    [InlineData(CheckResult.Warning, "2.12.3-RC.1", "2.12.2")]
    [InlineData(CheckResult.Ok, "2.12.3")]
    [InlineData(CheckResult.Ok, "2.15.2", "v3.0.0")]
    public void The_oldest_version_counts(CheckResult result, params string[] versions) =>
        Assert.Equal(result, ClusterChecks.Version(versions).Result);

    [Fact]
    public async Task Settings_that_cannot_be_used_fail_with_their_name()
    {
        Finding finding = Assert.Single(await new ClusterChecks(new ClusterOptions { Engine = "n1:4222" }).RunAsync());
        Assert.Equal(CheckResult.Failed, finding.Result);
        Assert.Contains("nats://HOST:PORT", finding.Found, StringComparison.Ordinal);
    }

    private static void RequireServer() => Assert.SkipWhen(NatsServer.Find() is null, "nats-server is not installed.");

    private static Finding Of(IReadOnlyList<Finding> findings, string check) =>
        Assert.Single(findings, f => f.Check.StartsWith(check, StringComparison.Ordinal));
}
