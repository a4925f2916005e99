using System.Diagnostics;
using System.Globalization;
using System.Text.Json;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Cli;

/// <summary><c>lightq bench fanout</c> counts right, writes its log and ends when it cannot go on.</summary>
public sealed class FanoutBenchTests
{
    private const int Publishers = 3,
        Subscribers = 7,
        Idle = 5;
    private static readonly string[] Small =
    [
        "bench",
        "fanout",
        "--publishers",
        "3",
        "--subscribers",
        "7",
        "--idle",
        "5",
        "--rate",
        "20",
        "--size",
        "200",
    ];

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public Task Every_delivery_is_settled_and_has_its_line_in_the_log()
    {
        FaultRun.RequireTier("It measures for some seconds.");
        return SettlesEveryDeliveryAsync("transient", synchronised: false);
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public Task Every_delivery_of_a_durable_topic_is_settled_and_has_its_line_in_the_log()
    {
        FaultRun.RequireTier("It measures for some seconds.");
        return SettlesEveryDeliveryAsync("durable", synchronised: true);
    }

    private static async Task SettlesEveryDeliveryAsync(string kind, bool synchronised)
    {
        using var directory = new TemporaryDirectory();
        string page = Path.Combine(directory.Path, "report.html");
        string[] flags =
        [
            "--kind",
            kind,
            "--duration",
            "1s",
            "--log-dir",
            directory.Path,
            "--output",
            "json",
            "--report",
            page,
        ];

        ToolResult run = (
            await LightQTool.RunAsync(
                null,
                [.. Small, .. flags, .. synchronised ? ["--synchronised"] : Array.Empty<string>()]
            )
        ).Succeeded();

        JsonElement result = JsonDocument.Parse(run.Output).RootElement.GetProperty("results")[0],
            fanout = result.GetProperty("fanout");
        const int Measured = Publishers * 20,
            Published = Publishers * (20 + 20);
        Assert.Equal(
            (Published, Published * Subscribers, Measured * Subscribers, Idle),
            (Int(fanout, "published"), Int(fanout, "settled"), Int(fanout, "entries"), Int(fanout, "idle_connections"))
        );
        Assert.Equal(
            (0, 0, 0, 0),
            (Int(result, "lost"), Int(result, "duplicated"), Int(result, "reordered"), Int(result, "damaged"))
        );
        Assert.Equal(0, fanout.GetProperty("loss_percent").GetDouble());
        string[][] entries =
        [
            .. (await File.ReadAllLinesAsync(LogIn(directory), TestContext.Current.CancellationToken)).Select(l =>
                l.Split(' ')
            ),
        ];
        Assert.Equal(
            from subscriber in Enumerable.Range(0, Subscribers)
            from publisher in Enumerable.Range(0, Publishers)
            from sequence in Enumerable.Range(20, 20)
            select (
                $"{Environment.MachineName}-{publisher}-{sequence}",
                subscriber.ToString(CultureInfo.InvariantCulture)
            ),
            entries.Select(e => (e[0], e[1]))
        );
        Assert.Equal(
            entries.Average(e => double.Parse(e[2], CultureInfo.InvariantCulture)),
            fanout.GetProperty("mean_us").GetDouble(),
            0.1
        );
        string html = await File.ReadAllTextAsync(page, TestContext.Current.CancellationToken);
        Assert.Contains("<svg", html, StringComparison.Ordinal);
        Assert.Contains("EMQ", html, StringComparison.Ordinal);
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task A_running_broker_is_measured_without_idle_connections_and_left_as_it_was()
    {
        FaultRun.RequireTier("It measures for some seconds.");
        using var directory = new TemporaryDirectory();
        await using ToolServer server = await ToolServer.StartAsync(Path.Combine(directory.Path, "data"));

        ToolResult run = (
            await LightQTool.RunAsync(
                null,
                "bench",
                "fanout",
                "--publishers",
                "2",
                "--subscribers",
                "3",
                "--duration",
                "500ms",
                "--rate",
                "10",
                "--server",
                server.Url,
                "--log-dir",
                directory.Path
            )
        ).Succeeded();

        Assert.Contains("EMQ's document", run.Text, StringComparison.Ordinal);
        Assert.Equal(
            0,
            JsonDocument
                .Parse((await LightQTool.RunAsync(server.Url, "topic", "list", "--output", "json")).Succeeded().Text)
                .RootElement.GetArrayLength()
        );
    }

    [Fact]
    public async Task A_log_that_cannot_be_written_is_told_before_anything_is_measured()
    {
        using var directory = new TemporaryDirectory();
        string file = Path.Combine(directory.Path, "file");
        await File.WriteAllTextAsync(file, "", TestContext.Current.CancellationToken);

        (await LightQTool.RunAsync(null, [.. Small, "--log-dir", Path.Combine(file, "below")])).FailedWith(1, file);
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task A_disk_that_is_full_when_the_log_is_written_fails_the_run()
    {
        FaultRun.RequireTier("It measures for some seconds.");
        Assert.SkipUnless(File.Exists("/dev/full"), "There is no /dev/full.");
        using var directory = new TemporaryDirectory();
        File.CreateSymbolicLink(LogIn(directory), "/dev/full");

        ToolResult run = await LightQTool.RunAsync(
            null,
            [.. Small, "--duration", "500ms", "--log-dir", directory.Path]
        );

        run.FailedLastWith(1);
        Assert.Contains("No space left on device", run.Errors, StringComparison.Ordinal);
    }

    [Fact]
    public async Task More_idle_connections_than_descriptors_are_a_mistake_in_the_command() =>
        (
            await LightQTool.RunAsync(null, [.. Small[..6], "--idle", "2000000000", "--log-dir", Path.GetTempPath()])
        ).FailedWith(2, "descriptors");

    [Fact]
    public async Task Nobody_at_the_address_fails_instead_of_hanging()
    {
        using var directory = new TemporaryDirectory();
        (
            await LightQTool.RunAsync(
                null,
                [.. Small, "--server", "lightq://127.0.0.1:1?control=1", "--log-dir", directory.Path]
            )
        ).FailedLastWith(69);
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task A_broker_that_dies_midway_ends_the_run_with_an_error()
    {
        FaultRun.RequireTier("It starts five processes and kills one.");
        using var directory = new TemporaryDirectory();
        using Process bench = LightQTool.Start(null, [.. Small, "--duration", "60s", "--log-dir", directory.Path]);
        int[] children = await ProcessTree.ChildrenOfAsync(bench, 4);
        BenchTests.KillBroker(children);
        string errors = await bench.StandardError.ReadToEndAsync(TestContext.Current.CancellationToken);
        await LightQTool.EndAsync(bench);

        Assert.Equal(1, bench.ExitCode);
        Assert.Contains("lightq: The broker process ended unexpectedly", errors, StringComparison.Ordinal);
        await ProcessTree.EndedAsync(children);
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task A_foreign_broker_that_dies_midway_ends_the_run_with_an_error()
    {
        FaultRun.RequireTier("It measures for some seconds.");
        using var directory = new TemporaryDirectory();
        await using ToolServer server = await ToolServer.StartAsync(Path.Combine(directory.Path, "data"));
        using Process bench = LightQTool.Start(
            null,
            [.. Small, "--duration", "60s", "--server", server.Url, "--log-dir", directory.Path]
        );
        int[] children = await ProcessTree.ChildrenOfAsync(bench, 3);
        await server.SignalAsync("KILL");
        string errors = await bench.StandardError.ReadToEndAsync(TestContext.Current.CancellationToken);
        await LightQTool.EndAsync(bench);

        Assert.NotEqual(0, bench.ExitCode);
        Assert.StartsWith("lightq: ", errors.TrimEnd().Split('\n')[^1], StringComparison.Ordinal);
        await ProcessTree.EndedAsync(children);
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task A_sweep_raises_the_rate_from_step_to_step()
    {
        FaultRun.RequireTier("It takes half a minute.");
        using var directory = new TemporaryDirectory();
        ToolResult run = (
            await LightQTool.RunAsync(
                null,
                "bench",
                "fanout",
                "--publishers",
                "1",
                "--subscribers",
                "1",
                "--idle",
                "0",
                "--rate",
                "1024",
                "--duration",
                "100ms",
                "--sweep",
                "--output",
                "json",
                "--log-dir",
                directory.Path
            )
        ).Succeeded();

        double[] rates =
        [
            .. JsonDocument
                .Parse(run.Output)
                .RootElement.GetProperty("results")
                .EnumerateArray()
                .Select(r => r.GetProperty("fanout").GetProperty("rate").GetDouble()),
        ];
        Assert.True(rates.Length > 1);
        Assert.Equal(1024, rates[0]);
        Assert.Equal(rates.Order().Distinct(), rates);
    }

    private static int Int(JsonElement element, string name) => element.GetProperty(name).GetInt32();

    private static string LogIn(TemporaryDirectory directory) =>
        Path.Combine(directory.Path, $"{Environment.MachineName}_data_entries.log");
}
