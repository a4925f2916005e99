using System.Diagnostics;
using System.Text.Json;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Cli;

/// <summary>
/// Hand-over between two threads and two processes: the bench counts right, and one process does not outlive the other.
/// What it measures is no test's business.
/// </summary>
public sealed class InProcessBenchTests
{
    private static readonly string[] Endless = ["--messages", "100000000", "--rate", "1000"];
    private static readonly string[] Percentiles = ["min", "p50", "p90", "p99", "p99.9", "p99.99", "max"];

    public static TheoryData<string> Shareable => ["file-ring", "journal"];

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task Every_target_hands_over_every_message_and_says_so_in_the_benches_schema()
    {
        FaultRun.RequireTier("It takes ten seconds.");
        using var directory = new TemporaryDirectory();
        string page = Path.Combine(directory.Path, "report.html");

        ToolResult run = (
            await LightQTool.RunAsync(
                null,
                "bench",
                "inprocess",
                "--messages",
                "2000",
                "--runs",
                "2",
                "--data",
                directory.Path,
                "--output",
                "json",
                "--report",
                page
            )
        ).Succeeded();

        JsonElement report = JsonDocument.Parse(run.Output).RootElement;
        Assert.Equal("inprocess", report.GetProperty("scenario").GetString());
        JsonElement[] results = [.. report.GetProperty("results").EnumerateArray()];
        Assert.Equal(
            ["ring", "ring-multi", "file-ring", "journal"],
            results.Select(r => r.GetProperty("kind").GetString())
        );
        Assert.All(results, result => AssertResult(result, size: 29, processes: 1));
        string html = await File.ReadAllTextAsync(page, TestContext.Current.CancellationToken);
        Assert.Contains("<svg", html, StringComparison.Ordinal);
        Assert.Equal([page], Directory.EnumerateFileSystemEntries(directory.Path));
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task People_get_the_documents_table_and_the_ratio_to_the_line()
    {
        FaultRun.RequireTier("It measures for some seconds.");
        ToolResult run = (
            await LightQTool.RunAsync(
                null,
                "bench",
                "inprocess",
                "--target",
                "ring",
                "--messages",
                "1000",
                "--runs",
                "3",
                "--size",
                "124"
            )
        ).Succeeded();

        string[] lines = run.Text.Split('\n');
        Assert.Equal("== ring, 124 B", lines[0]);
        Assert.Equal("Percentile   run1         run2         run3      % Variation", lines[2]);
        Assert.Equal(["50:", "90:", "99:", "99.9:", "99.99:", "worst:"], lines[3..9].Select(l => l.Split(' ')[0]));
        Assert.Contains(lines, l => l.Contains("p50 of line", StringComparison.Ordinal));
    }

    [Theory]
    [Trait("Plain", "no")]
    [MemberData(nameof(Shareable))]
    [Trait("Tier", "C")]
    public async Task Two_processes_hand_over_every_message(string target)
    {
        FaultRun.RequireTier("It takes ten seconds.");
        using var directory = new TemporaryDirectory();

        ToolResult run = (
            await LightQTool.RunAsync(
                null,
                "bench",
                "inprocess",
                "--processes",
                "2",
                "--target",
                target,
                "--messages",
                "2000",
                "--runs",
                "2",
                "--data",
                directory.Path,
                "--output",
                "json"
            )
        ).Succeeded();

        AssertResult(JsonDocument.Parse(run.Output).RootElement.GetProperty("results")[0], size: 29, processes: 2);
        Assert.Empty(Directory.EnumerateFileSystemEntries(directory.Path));
    }

    [Theory]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    [MemberData(nameof(Shareable))]
    public async Task A_producer_whose_consumer_is_killed_ends_with_an_error(string target)
    {
        FaultRun.RequireTier("It measures for some seconds.");
        using var directory = new TemporaryDirectory();
        using Process bench = Start(target, directory);
        int[] children = await BusyAsync(bench);
        using (Process consumer = Process.GetProcessById(children[0]))
            consumer.Kill();
        string errors = await bench.StandardError.ReadToEndAsync(TestContext.Current.CancellationToken);
        string output = await bench.StandardOutput.ReadToEndAsync(TestContext.Current.CancellationToken);
        await LightQTool.EndAsync(bench);

        Assert.Equal(1, bench.ExitCode);
        Assert.Contains(
            "lightq: The hand-over process ended unexpectedly with code 137",
            errors,
            StringComparison.Ordinal
        );
        Assert.Empty(output);
        Assert.Empty(Directory.EnumerateFileSystemEntries(directory.Path));
    }

    [Theory]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    [MemberData(nameof(Shareable))]
    public async Task A_consumer_whose_producer_is_killed_ends_with_an_error(string target)
    {
        FaultRun.RequireTier("It measures for some seconds.");
        using var directory = new TemporaryDirectory();
        using Process bench = Start(target, directory);
        int[] children = await BusyAsync(bench);
        bench.Kill();

        // The consumer writes to the same standard error, which ends when both have.
        string errors = await bench.StandardError.ReadToEndAsync(TestContext.Current.CancellationToken);
        await ProcessTree.EndedAsync(children);
        Assert.Contains(
            "lightq: The producer's process is gone, and the run with it.",
            errors,
            StringComparison.Ordinal
        );
    }

    [Fact]
    public async Task A_consumer_whose_producer_is_gone_does_not_end_with_success()
    {
        // A killed parent is an end of standard input, whatever was going on.
        ToolResult run = await LightQTool.RunAsync(null, "bench-role", "hand-over");

        run.FailedWith(1, "The producer's process is gone");
    }

    [Theory]
    [InlineData("--processes", "3", "is not 1 or 2")]
    [InlineData("--target", "pipe", "'pipe' is not one of ring, ring-multi, file-ring, journal")]
    [InlineData("--cpus", "0,0", "is not two different CPUs")]
    public async Task Bad_arguments_are_refused(string option, string value, string problem) =>
        (await LightQTool.RunAsync(null, "bench", "inprocess", option, value)).FailedWith(2, problem);

    [Fact]
    public async Task Memory_of_one_process_cannot_have_two() =>
        (await LightQTool.RunAsync(null, "bench", "inprocess", "--processes", "2", "--target", "ring")).FailedWith(
            2,
            "'ring' is memory of one process"
        );

    private static Process Start(string target, TemporaryDirectory directory) =>
        LightQTool.Start(
            null,
            [
                "bench",
                "inprocess",
                "--processes",
                "2",
                "--target",
                target,
                "--data",
                directory.Path,
                "--output",
                "json",
                .. Endless,
            ]
        );

    /// <summary>Waits until the warm-up is announced: both processes are there and busy then.</summary>
    private static async Task<int[]> BusyAsync(Process bench)
    {
        string? line = await bench.StandardError.ReadLineAsync(TestContext.Current.CancellationToken);
        Assert.Contains("warming up", line, StringComparison.Ordinal);
        return await ProcessTree.ChildrenOfAsync(bench, 1);
    }

    private static void AssertResult(JsonElement result, int size, int processes)
    {
        Assert.Equal(
            (size, processes, 2000, "line"),
            (
                result.GetProperty("size").GetInt32(),
                result.GetProperty("processes").GetInt32(),
                result.GetProperty("messages").GetInt32(),
                result.GetProperty("yardstick").GetString()
            )
        );
        foreach (string fault in new[] { "lost", "duplicated", "reordered", "damaged" })
            Assert.Equal(0, result.GetProperty(fault).GetInt64());
        Assert.Equal(2, result.GetProperty("latency_runs_us").GetArrayLength());
        Assert.Equal(2, result.GetProperty("yardstick_latency_runs_us").GetArrayLength());
        double[] values = [.. Percentiles.Select(p => result.GetProperty("latency_us").GetProperty(p).GetDouble())];
        Assert.Equal(values.Order(), values);
        Assert.True(values[0] > 0);
        foreach (string whose in new[] { "latency_us", "yardstick_latency_us" })
            Assert.InRange(result.GetProperty(whose).GetProperty("later_than_20_us_percent").GetDouble(), 0, 100);
        Assert.True(result.GetProperty("ratio").GetDouble() > 0);
        Assert.True(result.GetProperty("ratio_p99").GetDouble() >= result.GetProperty("ratio").GetDouble());
    }
}
