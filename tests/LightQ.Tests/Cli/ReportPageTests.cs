using System.Globalization;
using System.Text.RegularExpressions;
using LightQ.Cli.Bench.Fanout;
using LightQ.Cli.Bench.Report;
using LightQ.Cli.Bench.Scale;
using Xunit;

namespace LightQ.Tests.Cli;

/// <summary>Every scenario's page shows that scenario's figures, and no chart is empty.</summary>
/// <remarks><c>LIGHTQ_REPORT_PAGES</c> names a directory that gets the pages, to be looked at in a browser.</remarks>
public sealed partial class ReportPageTests
{
    [Fact]
    public void Throughput_has_a_group_of_bars_for_each_size_with_every_yardstick()
    {
        string page = PageOf("throughput", Moved(100, "relay", 6_000_000, 8_000_000), Moved(100, "nats", 6_000_000, 1_200_000), Moved(1024, "relay", 1_100_000, 1_200_000), Moved(1024, "nats", 1_100_000, 400_000));

        Assert.Equal(["lightq: 6,000,000", "relay: 8,000,000", "nats: 1,200,000", "lightq: 1,100,000", "relay: 1,200,000", "nats: 400,000"], Bars(page));
        Assert.Contains("Throughput by size: transient topic", page, StringComparison.Ordinal);
    }

    [Fact]
    public void Catching_up_has_bars_as_throughput_has() =>
        Assert.Equal(["lightq: 12,000,000", "relay: 8,000,000"], Bars(PageOf("catch-up", Moved(100, "relay", 12_000_000, 8_000_000, "durable"))));

    [Fact]
    public void Reference_has_a_chart_for_each_kind_and_what_the_documents_printed_and_what_is_true()
    {
        string page = PageOf("reference", Published("transient", "ancestor", 1_227_747), Published("transient", "myq", 1_178_134), Published("durable", "ancestor", 394_368));

        Assert.Equal(["lightq: 5,000,000", "ancestor: 1,227,747", "myq: 1,178,134", "lightq: 5,000,000", "ancestor: 394,368"], Bars(page));
        Assert.Equal(2, Charts(page).Length);
        Assert.Contains("<th>ancestor published<th>true<th>myq published<th>true", page, StringComparison.Ordinal);
        Assert.Contains("<td>1,250,000<td>1,227,747<td>1,250,000<td>1,178,134", page, StringComparison.Ordinal);
        Assert.Contains("<th>p50 us<th>p99 us", page, StringComparison.Ordinal);
    }

    [Fact]
    public void Settlement_has_bars_for_each_way_beside_the_yardstick()
    {
        BenchResult Way(string api, double rate) => Moved(100, "automatic", rate, 10_000_000, "durable") with { Api = api };

        string page = PageOf("settle", Way("range", 12_000_000), Way("each", 7_000_000), Way("shuffled", 3_000_000));

        Assert.Equal(["lightq: 12,000,000", "automatic: 10,000,000", "lightq: 7,000,000", "automatic: 10,000,000", "lightq: 3,000,000", "automatic: 10,000,000"], Bars(page));
        Assert.All(["range", "each", "shuffled"], way => Assert.Contains($"text-anchor=\"middle\">{way}</text>", page, StringComparison.Ordinal));
        Assert.DoesNotContain("by size", page, StringComparison.Ordinal);
    }

    [Fact]
    public void Startup_has_bars_for_each_start_and_its_own_columns()
    {
        string page = PageOf("startup", Moved(1024, "empty", 0, 0, "durable") with
        {
            MessagesPerSecond = null,
            YardstickMessagesPerSecond = null,
            Topics = 1000,
            BacklogBytes = 10L << 30,
            ReadyMs = 900,
            YardstickReadyMs = 440,
            ReadyRunsMs = [880, 900, 1500],
            YardstickReadyRunsMs = [440, 430, 450],
            BrokerReadyRssBytes = 117L << 20,
            BrokerPeakRssBytes = 198L << 20,
        });

        Assert.Equal(["after kill -9: 880", "empty: 440", "after kill -9: 900", "empty: 430", "after kill -9: 1,500", "empty: 450"], Bars(page));
        Assert.Contains("<td>1,000<td>10,240<td>900<td>1,500<td>empty<td>440", page, StringComparison.Ordinal);
        Assert.DoesNotContain("Throughput", page, StringComparison.Ordinal);
        Assert.DoesNotContain("messages/s", page, StringComparison.Ordinal);
        Assert.Contains("kill -9", string.Concat(ScenarioNotes.Of("startup")), StringComparison.Ordinal);
    }

    [Fact]
    public void Latency_has_lines_for_the_product_and_every_yardstick()
    {
        BenchResult Beside(string yardstick) => Moved(512, yardstick, 1000, 1000) with { Rate = 1000, LatencyUs = Latency(77), YardstickLatencyUs = Latency(90), RatioP99 = 1 };

        string page = PageOf("latency", Beside("relay"), Beside("nats"));

        Assert.Equal(3, Polyline().Count(page));
        Assert.All(["<td>lightq<td>77.0", "<td>relay<td>90.0", "<td>nats<td>90.0"], row => Assert.Contains(row, page, StringComparison.Ordinal));
    }

    [Fact]
    public void In_process_has_a_line_for_each_target_and_the_shares_of_late_messages()
    {
        BenchResult Through(string target, double late) => Moved(29, "line", 0, 0) with
        {
            Kind = target,
            Rate = 10_000,
            Processes = 1,
            LatencyUs = Latency(0.4) with { LaterThan20UsPercent = late },
            YardstickLatencyUs = Latency(0.1) with { LaterThan20UsPercent = 0.75 },
            RatioP99 = 1,
        };

        string page = PageOf("inprocess", Through("ring", 1.25), Through("journal", 1.5));

        Assert.Equal(3, Polyline().Count(page));
        Assert.Contains("<th>later than 20 us</tr>", page, StringComparison.Ordinal);
        Assert.Matches("<td>ring(<td>[0-9.]+)+<td>1.25 %</tr>", page);
        Assert.Matches("<td>journal(<td>[0-9.]+)+<td>1.50 %</tr>", page);
        Assert.Matches("<td>line(<td>[0-9.]+)+<td>0.75 %</tr>", page);
    }

    [Fact]
    public void Fan_out_has_a_line_for_each_step_with_names_that_stay_inside_the_plot()
    {
        BenchResult Step(double rate) => Moved(1024, "document", 20_000, 0) with
        {
            LatencyUs = Latency(9000 + rate),
            Fanout = new FanoutFigures { Publishers = 20, Subscribers = 1000, Rate = rate, Published = 660, Settled = 660_000, Entries = 600_000, MeanUs = 9800, DeliveriesPerSecond = 20_000 },
        };

        string page = PageOf("fanout", [.. Enumerable.Range(1, 16).Select(step => Step(20 * step))]);

        Assert.Equal(16, Polyline().Count(page));
        Assert.Equal(16, Polyline().Matches(page).Select(m => Stroke().Match(m.Value).Value).Distinct().Count());
        Assert.All(Legend().Matches(page), name => Assert.InRange(int.Parse(name.Groups["x"].Value, CultureInfo.InvariantCulture), 0, 640));
        Assert.Contains("<td>EMQ&#39;s document<td>20<td>1,000", page, StringComparison.Ordinal);
    }

    [Fact]
    public void Scale_has_bars_for_each_dimension()
    {
        BenchResult Grown(string dimension, double ratio) => Moved(1024, "few", 300_000 * ratio, 300_000) with
        {
            Scale = new ScaleFigures { Dimension = dimension, Few = 1, Many = 100, Unit = "messages/s", FewRate = 300_000, ManyRate = 300_000 * ratio },
        };

        Assert.Equal(["few: 100", "many: 90", "few: 100", "many: 110"], Bars(PageOf("scale", Grown("topics", 0.9), Grown("connections", 1.1))));
    }

    [Fact]
    public void A_scenario_that_has_no_page_is_a_defect_and_not_a_page_of_another() =>
        Assert.Throws<ArgumentOutOfRangeException>(() => ReportPage.Create(ReportOf("other", [Moved(100, "relay", 1, 1)])));

    /// <summary>The page of a report; none of its charts is empty.</summary>
    private static string PageOf(string scenario, params BenchResult[] results)
    {
        string page = ReportPage.Create(ReportOf(scenario, results));
        if (Environment.GetEnvironmentVariable("LIGHTQ_REPORT_PAGES") is { Length: > 0 } directory)
            File.WriteAllText(Path.Combine(Directory.CreateDirectory(directory).FullName, $"{scenario}.html"), page);
        Assert.NotEmpty(Charts(page));
        Assert.All(Charts(page), chart => Assert.True(Polyline().IsMatch(chart) || Bar().Matches(chart).Any(b => b.Groups["height"].Value != "0.0"), chart));
        Assert.NotEmpty(ScenarioNotes.Of(scenario));
        return page;
    }

    private static BenchReport ReportOf(string scenario, IReadOnlyList<BenchResult> results) => new() { Scenario = scenario, Machine = BenchMachine.Current(), Results = results };

    private static string[] Charts(string page) => [.. Chart().Matches(page).Select(m => m.Value)];

    private static string[] Bars(string page) => [.. Bar().Matches(page).Select(m => m.Groups["title"].Value)];

    private static BenchResult Moved(int size, string yardstick, double rate, double theirs, string kind = "transient") => new()
    {
        Size = size,
        Kind = kind,
        Ack = kind == "durable" ? "fsync" : "memory",
        Api = "batch",
        Messages = 1_000_000,
        MessagesPerSecond = rate,
        Yardstick = yardstick,
        YardstickMessagesPerSecond = theirs,
        Ratio = theirs == 0 ? 1 : rate / theirs,
        Pairs = 3,
    };

    private static BenchResult Published(string kind, string document, double theirs) =>
        Moved(100, document, 5_000_000, theirs, kind) with { PublishedMessagesPerSecond = 1_250_000, LatencyUs = Latency(500) };

    private static LatencyFigures Latency(double p50) => new() { Min = p50, P50 = p50, P90 = 2 * p50, P99 = 10 * p50, P999 = 50 * p50, P9999 = 80 * p50, Max = 100 * p50 };

    [GeneratedRegex("<svg.*?</svg>", RegexOptions.Singleline)]
    private static partial Regex Chart();

    [GeneratedRegex("<rect [^>]*height=\"(?<height>[0-9.]+)\"[^>]*><title>(?<title>[^<]*)</title>")]
    private static partial Regex Bar();

    [GeneratedRegex("<polyline points=\"[^\"]+ [^\"]+\"[^>]*>")]
    private static partial Regex Polyline();

    [GeneratedRegex("stroke=.*")]
    private static partial Regex Stroke();

    [GeneratedRegex("<rect x=\"(?<x>[0-9]+)\" y=\"-?[0-9]+\" width=\"12\"")]
    private static partial Regex Legend();
}
