using System.Diagnostics;
using System.Globalization;
using System.Text.Json;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Cli;

/// <summary>The benches run, count right and say it in their schema. What they measure is no test's business.</summary>
public sealed class BenchTests
{
    private static readonly string[] Kinds = ["transient", "durable"],
        Documents = ["ancestor", "myq"];
    private static readonly int[] ReferenceSizes = [100, 1024];
    private static readonly string[] Percentiles = ["min", "p50", "p90", "p99", "p99.9", "p99.99", "max"];

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task Throughput_reports_every_size_in_its_schema_and_as_a_page()
    {
        FaultRun.RequireTier("It measures for some seconds.");
        using var directory = new TemporaryDirectory();
        string page = Path.Combine(directory.Path, "report.html");

        ToolResult run = (
            await LightQTool.RunAsync(
                null,
                "bench",
                "throughput",
                "--pairs",
                "1",
                "--messages",
                "200000",
                "--sizes",
                "100,1024",
                "--output",
                "json",
                "--report",
                page
            )
        ).Succeeded();

        JsonElement report = JsonDocument.Parse(run.Output).RootElement;
        Assert.Equal("throughput", report.GetProperty("scenario").GetString());
        foreach (string field in new[] { "cpu", "cores", "memory_bytes", "runtime", "gc" })
            Assert.NotEqual(JsonValueKind.Null, report.GetProperty("machine").GetProperty(field).ValueKind);
        JsonElement[] results = [.. report.GetProperty("results").EnumerateArray()];
        Assert.Equal([100, 1024], results.Select(r => r.GetProperty("size").GetInt32()));
        Assert.All(results, r => AssertThroughput(r, 200000, "transient", "memory"));
        string html = await File.ReadAllTextAsync(page, TestContext.Current.CancellationToken);
        Assert.Contains("<svg", html, StringComparison.Ordinal);
        Assert.Contains("The yardstick", html, StringComparison.Ordinal);
        Assert.DoesNotContain("http", html, StringComparison.Ordinal);
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task A_consumer_that_catches_up_gets_what_was_there_before_it_came()
    {
        FaultRun.RequireTier("It measures for some seconds.");
        using var directory = new TemporaryDirectory();
        string page = Path.Combine(directory.Path, "report.html");

        ToolResult run = (
            await LightQTool.RunAsync(
                null,
                "bench",
                "throughput",
                "--catch-up",
                "--kind",
                "durable",
                "--pairs",
                "2",
                "--messages",
                "20000",
                "--sizes",
                "100,1024",
                "--data",
                directory.Path,
                "--output",
                "json",
                "--report",
                page
            )
        ).Succeeded();

        JsonElement report = JsonDocument.Parse(run.Output).RootElement;
        Assert.Equal("catch-up", report.GetProperty("scenario").GetString());
        JsonElement[] results = [.. report.GetProperty("results").EnumerateArray()];
        Assert.Equal([100, 1024], results.Select(r => r.GetProperty("size").GetInt32()));
        Assert.All(results, r => AssertThroughput(r, 20000, "durable", "fsync"));
        Assert.Contains(
            "page cache",
            await File.ReadAllTextAsync(page, TestContext.Current.CancellationToken),
            StringComparison.Ordinal
        );
    }

    [Theory]
    [InlineData("--catch-up needs --kind durable", "--catch-up")]
    [InlineData(
        "allowed: 67041 at most",
        "--catch-up",
        "--kind",
        "durable",
        "--sizes",
        "100,32000",
        "--messages",
        "1000000"
    )]
    public async Task A_backlog_that_cannot_be_is_refused(string problem, params string[] options) =>
        (await LightQTool.RunAsync(null, ["bench", "throughput", .. options])).FailedWith(2, problem);

    [Theory]
    [Trait("Plain", "no")]
    [InlineData("message", "transient")]
    [InlineData("publish", "transient")]
    [InlineData("batch", "durable")]
    [Trait("Tier", "C")]
    public async Task Every_api_and_kind_moves_every_message_once(string api, string kind)
    {
        FaultRun.RequireTier("It measures for some seconds.");
        ToolResult run = (
            await LightQTool.RunAsync(
                null,
                "bench",
                "throughput",
                "--pairs",
                "1",
                "--messages",
                "20000",
                "--sizes",
                "100",
                "--api",
                api,
                "--kind",
                kind,
                "--output",
                "json"
            )
        ).Succeeded();

        JsonElement result = JsonDocument.Parse(run.Output).RootElement.GetProperty("results")[0];
        Assert.Equal((api, kind), (result.GetProperty("api").GetString(), result.GetProperty("kind").GetString()));
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task Latency_reports_percentiles_in_order_beside_those_of_the_relay()
    {
        FaultRun.RequireTier("It takes ten seconds.");
        ToolResult run = (
            await LightQTool.RunAsync(
                null,
                "bench",
                "latency",
                "-sz",
                "512",
                "-tr",
                "500",
                "-tt",
                "1s",
                "--pairs",
                "1",
                "--output",
                "json"
            )
        ).Succeeded();

        JsonElement result = JsonDocument.Parse(run.Output).RootElement.GetProperty("results")[0];
        foreach (string whose in new[] { "latency_us", "yardstick_latency_us" })
        {
            double[] values = [.. Percentiles.Select(p => result.GetProperty(whose).GetProperty(p).GetDouble())];
            Assert.Equal(values.Order(), values);
            Assert.True(values[0] > 0);
        }
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task Latency_takes_the_reference_documents_flags_and_writes_its_files()
    {
        FaultRun.RequireTier("It measures for some seconds.");
        using var directory = new TemporaryDirectory();
        await using ToolServer server = await ToolServer.StartAsync(Path.Combine(directory.Path, "data"));
        string file = Path.Combine(directory.Path, "latency");

        ToolResult run = (
            await LightQTool.RunAsync(
                null,
                "bench",
                "latency",
                "-sa",
                server.Url,
                "-sb",
                server.Url,
                "-tr",
                "200",
                "-tt",
                "1s",
                "-sz",
                "64",
                "-hist",
                file,
                "--pairs",
                "1"
            )
        ).Succeeded();

        Assert.StartsWith("==============================\nPub Server RTT : ", run.Text, StringComparison.Ordinal);
        Assert.Contains("\nTarget Band/Sec: 25K\n", run.Text, StringComparison.Ordinal);
        double[] raw =
        [
            .. (await File.ReadAllLinesAsync(file + ".raw", TestContext.Current.CancellationToken)).Select(l =>
                double.Parse(l, CultureInfo.InvariantCulture)
            ),
        ];
        Assert.Equal(200, raw.Length);
        Assert.All(raw, value => Assert.True(value > 0));
        string[] distribution = await File.ReadAllLinesAsync(
            file + ".histogram",
            TestContext.Current.CancellationToken
        );
        Assert.Contains("Total count    =          200]", distribution[^1], StringComparison.Ordinal);
        Assert.Equal(
            "0",
            JsonDocument
                .Parse((await LightQTool.RunAsync(server.Url, "topic", "list", "--output", "json")).Succeeded().Text)
                .RootElement.GetArrayLength()
                .ToString(CultureInfo.InvariantCulture)
        );
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task Latency_between_two_brokers_that_do_not_know_each_other_says_so()
    {
        FaultRun.RequireTier("It waits half a minute for what never comes.");
        using TemporaryDirectory one = new(),
            other = new();
        await using ToolServer publish = await ToolServer.StartAsync(one.Path),
            subscribe = await ToolServer.StartAsync(other.Path);

        ToolResult run = await LightQTool.RunAsync(
            null,
            "bench",
            "latency",
            "-sa",
            publish.Url,
            "-sb",
            subscribe.Url,
            "-tt",
            "1s",
            "--pairs",
            "1"
        );

        run.FailedLastWith(1);
        Assert.Contains(
            "No message arrived. Publisher and subscriber must reach the same broker",
            run.Errors,
            StringComparison.Ordinal
        );
    }

    [Theory]
    [InlineData("--tls-key is given without --tls-cert", "-secure", "-tls_key", "key.pem")]
    [InlineData("--tls-ca is given for a broker that makes its own certificate", "-tls_ca", "ca.pem")]
    [InlineData("NATS is measured without TLS only", "-secure", "--against", "nats")]
    public async Task Options_for_TLS_that_contradict_each_other_are_refused(string reason, params string[] flags) =>
        (await LightQTool.RunAsync(null, ["bench", "latency", .. flags])).FailedWith(2, reason);

    [Theory]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    [InlineData("latency", "-secure", "-tt", "500ms")]
    [InlineData("throughput", "--tls", "--sizes", "1000", "--messages", "20000")]
    public async Task Broker_and_relay_are_measured_over_TLS(string bench, params string[] flags)
    {
        FaultRun.RequireTier("It measures for some seconds.");
        ToolResult run = await LightQTool.RunAsync(
            null,
            ["bench", bench, "--pairs", "1", "--output", "json", .. flags]
        );
        run.Succeeded();
        using JsonDocument report = JsonDocument.Parse(run.Output);
        Assert.Contains(
            report.RootElement.GetProperty("remarks").EnumerateArray(),
            r => r.GetString()!.Contains("encrypted with TLS", StringComparison.Ordinal)
        );
        JsonElement result = report.RootElement.GetProperty("results")[0];
        Assert.Equal("relay", result.GetProperty("yardstick").GetString());
        Assert.Equal(0, result.GetProperty("lost").GetInt64());
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task Reference_puts_both_documents_beside_every_cell_of_the_grid()
    {
        FaultRun.RequireTier("It measures for some seconds.");
        using var directory = new TemporaryDirectory();
        string page = Path.Combine(directory.Path, "report.html");

        ToolResult run = (
            await LightQTool.RunAsync(
                null,
                "bench",
                "reference",
                "--messages",
                "5000",
                "--sizes",
                "100,1024",
                "--output",
                "json",
                "--report",
                page
            )
        ).Succeeded();

        JsonElement[] results = [.. JsonDocument.Parse(run.Output).RootElement.GetProperty("results").EnumerateArray()];
        Assert.Equal(
            from kind in Kinds
            from size in ReferenceSizes
            from document in Documents
            select (kind, size, document),
            results.Select(r =>
                (
                    r.GetProperty("kind").GetString()!,
                    r.GetProperty("size").GetInt32(),
                    r.GetProperty("yardstick").GetString()!
                )
            )
        );
        foreach (JsonElement result in results)
        {
            Assert.Equal((5000, 0), (result.GetProperty("messages").GetInt32(), result.GetProperty("lost").GetInt32()));
            Assert.Equal(
                result.GetProperty("kind").GetString() == "durable" ? "fsync" : "memory",
                result.GetProperty("ack").GetString()
            );
            double rate = result.GetProperty("messages_per_second").GetDouble(),
                theirs = result.GetProperty("yardstick_messages_per_second").GetDouble();
            Assert.Equal(rate / theirs, result.GetProperty("ratio").GetDouble(), 0.01);
            Assert.True(result.GetProperty("published_messages_per_second").GetDouble() >= theirs);
            Assert.True(result.GetProperty("latency_us").GetProperty("p50").GetDouble() > 0);
        }
        Assert.Equal(
            2,
            (await File.ReadAllTextAsync(page, TestContext.Current.CancellationToken)).Split("<svg").Length - 1
        );
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task A_nats_server_can_be_the_second_yardstick()
    {
        FaultRun.RequireTier("It takes ten seconds.");
        Assert.SkipUnless(
            File.Exists("/usr/sbin/nats-server") || File.Exists("/usr/bin/nats-server"),
            "nats-server is not installed"
        );

        ToolResult run = (
            await LightQTool.RunAsync(
                null,
                "bench",
                "throughput",
                "--pairs",
                "1",
                "--messages",
                "20000",
                "--sizes",
                "100",
                "--against",
                "nats",
                "--output",
                "json"
            )
        ).Succeeded();

        Assert.Equal(
            ["relay", "nats"],
            JsonDocument
                .Parse(run.Output)
                .RootElement.GetProperty("results")
                .EnumerateArray()
                .Select(r => r.GetProperty("yardstick").GetString())
        );
    }

    [Fact]
    public async Task A_bench_against_nobody_fails_instead_of_hanging() =>
        (
            await LightQTool.RunAsync(
                null,
                "bench",
                "throughput",
                "--pairs",
                "1",
                "--messages",
                "1000",
                "--server",
                "lightq://127.0.0.1:1?control=1"
            )
        ).FailedLastWith(69);

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task Quickstart_moves_and_checks_both_kinds_in_both_sizes()
    {
        FaultRun.RequireTier("It takes ten seconds.");
        ToolResult run = (
            await LightQTool.RunAsync(null, "quickstart", "--messages", "20000", "--output", "json")
        ).Succeeded();

        JsonElement[] runs = [.. JsonDocument.Parse(run.Output).RootElement.GetProperty("runs").EnumerateArray()];
        Assert.Equal(
            [("transient", 100), ("transient", 1024), ("durable", 100), ("durable", 1024)],
            runs.Select(r => (r.GetProperty("kind").GetString()!, r.GetProperty("size").GetInt32()))
        );
        Assert.All(
            runs,
            r => Assert.Equal((20000, 0), (r.GetProperty("messages").GetInt32(), r.GetProperty("lost").GetInt32()))
        );
    }

    [Fact]
    public async Task Its_processes_end_with_a_bench_that_is_killed()
    {
        using Process bench = LightQTool.Start(null, "bench", "throughput", "--sizes", "100", "--duration", "60s");
        int[] children = await ChildrenOfAsync(bench);
        bench.Kill();

        await ProcessTree.EndedAsync(children);
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task A_broker_that_dies_midway_ends_the_bench_with_an_error()
    {
        FaultRun.RequireTier("It measures for some seconds.");
        using Process bench = LightQTool.Start(null, "bench", "throughput", "--sizes", "100", "--duration", "60s");
        int[] children = await ChildrenOfAsync(bench);
        KillBroker(children);
        string errors = await bench.StandardError.ReadToEndAsync(TestContext.Current.CancellationToken);
        await LightQTool.EndAsync(bench);

        Assert.Equal(1, bench.ExitCode);
        Assert.Contains("lightq: The broker process ended unexpectedly", errors, StringComparison.Ordinal);
        await ProcessTree.EndedAsync(children);
    }

    internal static void KillBroker(int[] children)
    {
        using Process broker = Process.GetProcessById(
            children.Single(id =>
                File.ReadAllText($"/proc/{id}/cmdline").Contains("\0server\0", StringComparison.Ordinal)
            )
        );
        broker.Kill();
    }

    private static void AssertThroughput(JsonElement result, int messages, string kind, string ack)
    {
        Assert.True(result.GetProperty("messages_per_second").GetDouble() > 0);
        Assert.True(result.GetProperty("yardstick_messages_per_second").GetDouble() > 0);
        Assert.True(result.GetProperty("ratio").GetDouble() > 0);
        Assert.True(result.GetProperty("broker_peak_rss_bytes").GetInt64() > 0);
        Assert.Equal(
            (messages, "relay", kind, ack, "batch"),
            (
                result.GetProperty("messages").GetInt32(),
                result.GetProperty("yardstick").GetString(),
                result.GetProperty("kind").GetString(),
                result.GetProperty("ack").GetString(),
                result.GetProperty("api").GetString()
            )
        );
        foreach (string fault in new[] { "lost", "duplicated", "reordered" })
            Assert.Equal(0, result.GetProperty(fault).GetInt64());
        Assert.True(result.TryGetProperty("broker_cpu_seconds", out _));
    }

    /// <summary>Waits until a bench has all its processes: broker, producer, consumer and relay.</summary>
    private static Task<int[]> ChildrenOfAsync(Process bench) => ProcessTree.ChildrenOfAsync(bench, 4);
}
