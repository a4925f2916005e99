using LightQ.Bench;
using LightQ.Cli.Bench.Report;
using Spectre.Console;
using Xunit;
using static LightQ.Tests.Cli.Bench.SampleResults;

namespace LightQ.Tests.Cli.Bench;

/// <summary>However many yardsticks there are, the product has one row a size.</summary>
public sealed class ReportTableTests
{
    [Fact]
    public void Latency_has_one_row_for_the_product_with_its_ratio_to_each_yardstick()
    {
        string[] lines = Lines(
            new LatencyView(),
            Paced("relay") with
            {
                Ratio = 0.5,
                RatioP99 = 0.25,
            },
            Paced("nats") with
            {
                Ratio = 0.75,
                RatioP99 = 0.2,
            }
        );

        Assert.Equal(
            ["p50 of relay", "p99 of relay", "p50 of nats", "p99 of nats"],
            Cells(lines.Single(l => l.Contains("through", StringComparison.Ordinal)))[^4..]
        );
        Assert.Equal(
            ["0.50", "0.25", "0.75", "0.20"],
            Cells(lines.Single(l => l.Contains("lightq", StringComparison.Ordinal)))[^4..]
        );
        Assert.Single(lines, l => Cells(l).Contains("relay"));
        Assert.Single(lines, l => Cells(l).Contains("nats"));
    }

    [Fact]
    public void Throughput_has_one_row_a_size_with_every_yardstick_beside_it()
    {
        string[] lines = Lines(
            new ThroughputView(catchUp: false),
            Moved(100, "relay", 1000, 2000),
            Moved(100, "nats", 1000, 250),
            Moved(1024, "relay", 1000, 1000 / 0.75),
            Moved(1024, "nats", 1000, 1000 / 3.0)
        );

        Assert.Contains(
            lines,
            l =>
                l.Contains("relay messages/s", StringComparison.Ordinal)
                && l.Contains("of nats", StringComparison.Ordinal)
        );
        Assert.Single(lines, l => Cells(l) is ["100 B", .., "2,000", "0.50", "250", "4.00", "1.50", "98"]);
        Assert.Single(lines, l => Cells(l) is ["1024 B", .., "1,333", "0.75", "333", "3.00", "1.50", "98"]);
    }

    [Fact]
    public void A_broker_of_somebody_else_leaves_its_cells_empty()
    {
        string[] lines = Lines(
            new ThroughputView(catchUp: false),
            Moved(100, "relay", 1000, 2000) with
            {
                BrokerCpuSeconds = null,
                BrokerPeakRssBytes = null,
            }
        );

        Assert.Single(lines, l => Cells(l) is ["100 B", .., "2,000", "0.50"]);
    }

    [Fact]
    public void In_process_has_the_share_of_late_messages_beside_the_lines()
    {
        string[] lines = Lines(new InProcessView(), HandedOver("ring", 1.254));

        string[] columns = Cells(lines.Single(l => l.Contains("target", StringComparison.Ordinal))),
            row = Cells(lines.Single(l => l.Contains("ring", StringComparison.Ordinal)));
        Assert.Equal("1.25 %", row[Array.IndexOf(columns, "> 20 us")]);
        Assert.Equal("0.75 %", row[Array.IndexOf(columns, "line > 20 us")]);
    }

    private static string[] Lines<TResult>(ScenarioView<TResult> view, params IReadOnlyList<TResult> results)
        where TResult : BenchResult
    {
        using var text = new StringWriter();
        IAnsiConsole console = AnsiConsole.Create(new AnsiConsoleSettings { Out = new AnsiConsoleOutput(text) });
        console.Profile.Width = 400;
        ReportTable.Write(view, Report(view, results), console);
        return text.ToString().Split('\n')[1..]; // Without the line about the machine.
    }

    private static string[] Cells(string line) =>
        line.Split("  ", StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries);
}
