using LightQ.Cli.Bench;
using LightQ.Cli.Bench.Report;
using Spectre.Console;
using Xunit;

namespace LightQ.Tests.Cli;

/// <summary>However many yardsticks there are, the product has one row a size.</summary>
public sealed class ReportTableTests
{
    [Fact]
    public void Latency_has_one_row_for_the_product_with_its_ratio_to_each_yardstick()
    {
        string[] lines = Lines(
            Result(512, "relay", 0.5) with { RatioP99 = 0.25, LatencyUs = Latency(), YardstickLatencyUs = Latency() },
            Result(512, "nats", 0.75) with { RatioP99 = 0.2, LatencyUs = Latency(), YardstickLatencyUs = Latency() });

        Assert.Equal(["p50 of relay", "p99 of relay", "p50 of nats", "p99 of nats"], Cells(lines.Single(l => l.Contains("through", StringComparison.Ordinal)))[^4..]);
        Assert.Equal(["0.50", "0.25", "0.75", "0.20"], Cells(lines.Single(l => l.Contains("lightq", StringComparison.Ordinal)))[^4..]);
        Assert.Single(lines, l => Cells(l).Contains("relay"));
        Assert.Single(lines, l => Cells(l).Contains("nats"));
    }

    [Fact]
    public void Throughput_has_one_row_a_size_with_every_yardstick_beside_it()
    {
        string[] lines = Lines(Result(100, "relay", 0.5), Result(100, "nats", 4), Result(1024, "relay", 0.75), Result(1024, "nats", 3));

        Assert.Contains(lines, l => l.Contains("relay messages/s", StringComparison.Ordinal) && l.Contains("of nats", StringComparison.Ordinal));
        Assert.Single(lines, l => Cells(l) is ["100 B", .., "2,000", "0.50", "250", "4.00"]);
        Assert.Single(lines, l => Cells(l) is ["1024 B", .., "1,333", "0.75", "333", "3.00"]);
    }

    [Fact]
    public void In_process_has_the_share_of_late_messages_beside_the_lines()
    {
        string[] lines = Lines(Result(29, "line", 0.5) with
        {
            Kind = "ring",
            Processes = 1,
            LatencyUs = Latency() with { LaterThan20UsPercent = 1.254 },
            YardstickLatencyUs = Latency() with { LaterThan20UsPercent = 0.75 },
        });

        string[] columns = Cells(lines.Single(l => l.Contains("target", StringComparison.Ordinal))), row = Cells(lines.Single(l => l.Contains("ring", StringComparison.Ordinal)));
        Assert.Equal("1.25 %", row[Array.IndexOf(columns, "> 20 us")]);
        Assert.Equal("0.75 %", row[Array.IndexOf(columns, "line > 20 us")]);
    }

    private static string[] Lines(params BenchResult[] results)
    {
        using var text = new StringWriter();
        IAnsiConsole console = AnsiConsole.Create(new AnsiConsoleSettings { Out = new AnsiConsoleOutput(text) });
        console.Profile.Width = 400;
        var report = new BenchReport { Scenario = "test", Machine = BenchMachine.Current(), Results = results };
        ReportTable.Write(report, console);
        return text.ToString().Split('\n')[1..]; // Without the line about the machine.
    }

    private static string[] Cells(string line) => line.Split("  ", StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries);

    private static BenchResult Result(int size, string yardstick, double ratio) => new()
    {
        Size = size,
        Kind = "transient",
        Ack = "memory",
        Api = "batch",
        MessagesPerSecond = 1000,
        Yardstick = yardstick,
        YardstickMessagesPerSecond = 1000 / ratio,
        Ratio = ratio,
        Rate = 1000,
    };

    private static LatencyFigures Latency()
    {
        var histogram = new LatencyHistogram();
        histogram.Record(1000);
        return LatencyFigures.Of(histogram);
    }
}
