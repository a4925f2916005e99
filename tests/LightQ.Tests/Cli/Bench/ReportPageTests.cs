using System.Globalization;
using System.Text.RegularExpressions;
using LightQ.Bench;
using LightQ.Bench.Throughput;
using LightQ.Cli.Bench.Report;
using Xunit;
using static LightQ.Tests.Cli.Bench.SampleResults;

namespace LightQ.Tests.Cli.Bench;

/// <summary>Every scenario's page shows that scenario's figures, and no chart is empty.</summary>
/// <remarks><c>LIGHTQ_REPORT_PAGES</c> names a directory that gets the pages, to be looked at in a browser.</remarks>
public sealed partial class ReportPageTests
{
    [Fact]
    public void Throughput_has_a_group_of_bars_for_each_size_with_every_yardstick()
    {
        string page = PageOf(
            new ThroughputView(catchUp: false),
            Moved(100, "relay", 6_000_000, 8_000_000),
            Moved(100, "nats", 6_000_000, 1_200_000),
            Moved(1024, "relay", 1_100_000, 1_200_000),
            Moved(1024, "nats", 1_100_000, 400_000)
        );

        Assert.Equal(
            [
                "lightq: 6,000,000",
                "relay: 8,000,000",
                "nats: 1,200,000",
                "lightq: 1,100,000",
                "relay: 1,200,000",
                "nats: 400,000",
            ],
            Bars(page)
        );
        Assert.Contains("Throughput by size: transient topic", page, StringComparison.Ordinal);
    }

    [Fact]
    public void Catching_up_has_bars_as_throughput_has()
    {
        ThroughputResult caughtUp = Moved(100, "relay", 12_000_000, 8_000_000) with { Kind = "durable", Ack = "fsync" };

        Assert.Equal(
            ["lightq: 12,000,000", "relay: 8,000,000"],
            Bars(PageOf(new ThroughputView(catchUp: true), caughtUp))
        );
    }

    [Fact]
    public void Reference_has_a_chart_for_each_kind_and_what_the_documents_printed_and_what_is_true()
    {
        string page = PageOf(
            new ReferenceView(),
            Published("transient", "ancestor", 1_227_747),
            Published("transient", "myq", 1_178_134),
            Published("durable", "ancestor", 394_368)
        );

        Assert.Equal(
            ["lightq: 5,000,000", "ancestor: 1,227,747", "myq: 1,178,134", "lightq: 5,000,000", "ancestor: 394,368"],
            Bars(page)
        );
        Assert.Equal(2, Charts(page).Length);
        Assert.Contains("<th>ancestor published<th>true<th>myq published<th>true", page, StringComparison.Ordinal);
        Assert.Contains("<td>1,250,000<td>1,227,747<td>1,250,000<td>1,178,134", page, StringComparison.Ordinal);
        Assert.Contains("<th>p50 us<th>p99 us", page, StringComparison.Ordinal);
    }

    [Fact]
    public void Settlement_has_bars_for_each_way_beside_the_yardstick()
    {
        string page = PageOf(
            new SettleView(),
            Settled("range", 12_000_000),
            Settled("each", 7_000_000),
            Settled("shuffled", 3_000_000)
        );

        Assert.Equal(
            [
                "lightq: 12,000,000",
                "automatic: 10,000,000",
                "lightq: 7,000,000",
                "automatic: 10,000,000",
                "lightq: 3,000,000",
                "automatic: 10,000,000",
            ],
            Bars(page)
        );
        Assert.All(
            ["range", "each", "shuffled"],
            way => Assert.Contains($"text-anchor=\"middle\">{way}</text>", page, StringComparison.Ordinal)
        );
        Assert.DoesNotContain("by size", page, StringComparison.Ordinal);
    }

    [Fact]
    public void Startup_has_bars_for_each_start_and_its_own_columns()
    {
        string page = PageOf(new StartupView(), Started());

        Assert.Equal(
            [
                "after kill -9: 880",
                "empty: 440",
                "after kill -9: 900",
                "empty: 430",
                "after kill -9: 1,500",
                "empty: 450",
            ],
            Bars(page)
        );
        Assert.Contains("<td>1,000<td>10,240<td>900<td>1,500<td>empty<td>440", page, StringComparison.Ordinal);
        Assert.DoesNotContain("Throughput", page, StringComparison.Ordinal);
        Assert.DoesNotContain("messages/s", page, StringComparison.Ordinal);
        Assert.Contains("kill -9", string.Concat(new StartupView().Notes), StringComparison.Ordinal);
    }

    [Fact]
    public void Latency_has_lines_for_the_product_and_every_yardstick()
    {
        string page = PageOf(new LatencyView(), Paced("relay"), Paced("nats"));

        Assert.Equal(3, Polyline().Count(page));
        Assert.All(
            ["<td>lightq<td>77.0", "<td>relay<td>90.0", "<td>nats<td>90.0"],
            row => Assert.Contains(row, page, StringComparison.Ordinal)
        );
    }

    [Fact]
    public void In_process_has_a_line_for_each_target_and_the_shares_of_late_messages()
    {
        string page = PageOf(new InProcessView(), HandedOver("ring", 1.25), HandedOver("journal", 1.5));

        Assert.Equal(3, Polyline().Count(page));
        Assert.Contains("<th>later than 20 us</tr>", page, StringComparison.Ordinal);
        Assert.Matches("<td>ring(<td>[0-9.]+)+<td>1.25 %</tr>", page);
        Assert.Matches("<td>journal(<td>[0-9.]+)+<td>1.50 %</tr>", page);
        Assert.Matches("<td>line(<td>[0-9.]+)+<td>0.75 %</tr>", page);
    }

    [Fact]
    public void Fan_out_has_a_line_for_each_step_with_names_that_stay_inside_the_plot()
    {
        string page = PageOf(new FanoutView(), [.. Enumerable.Range(1, 16).Select(step => FannedOut(20 * step))]);

        Assert.Equal(16, Polyline().Count(page));
        Assert.Equal(16, Polyline().Matches(page).Select(m => Stroke().Match(m.Value).Value).Distinct().Count());
        Assert.All(
            Legend().Matches(page),
            name => Assert.InRange(int.Parse(name.Groups["x"].Value, CultureInfo.InvariantCulture), 0, 640)
        );
        Assert.Contains("<td>EMQ&#39;s document<td>20<td>1,000", page, StringComparison.Ordinal);
    }

    [Fact]
    public void Scale_has_bars_for_each_dimension() =>
        Assert.Equal(
            ["few: 100", "many: 90", "few: 100", "many: 110"],
            Bars(PageOf(new ScaleView(), Grown("topics", 0.9), Grown("connections", 1.1)))
        );

    [Fact]
    public void What_did_not_arrive_once_and_in_order_is_said_below_the_figures() =>
        Assert.Contains(
            "<p class=\"bad\">At 100 B: 1 lost, 2 duplicated, 3 reordered, 4 damaged.</p>",
            PageOf(
                new ThroughputView(catchUp: false),
                Moved(100, "relay", 1, 1) with
                {
                    Lost = 1,
                    Duplicated = 2,
                    Reordered = 3,
                    Damaged = 4,
                }
            ),
            StringComparison.Ordinal
        );

    /// <summary>The page of a report; none of its charts is empty.</summary>
    private static string PageOf<TResult>(ScenarioView<TResult> view, params IReadOnlyList<TResult> results)
        where TResult : BenchResult
    {
        string page = ReportPage.Create(view, Report(view, results));
        if (Environment.GetEnvironmentVariable("LIGHTQ_REPORT_PAGES") is { Length: > 0 } directory)
            File.WriteAllText(Path.Combine(Directory.CreateDirectory(directory).FullName, $"{view.Name}.html"), page);
        Assert.NotEmpty(Charts(page));
        Assert.All(
            Charts(page),
            chart =>
                Assert.True(
                    Polyline().IsMatch(chart) || Bar().Matches(chart).Any(b => b.Groups["height"].Value != "0.0"),
                    chart
                )
        );
        Assert.NotEmpty(view.Notes);
        return page;
    }

    private static string[] Charts(string page) => [.. Chart().Matches(page).Select(m => m.Value)];

    private static string[] Bars(string page) => [.. Bar().Matches(page).Select(m => m.Groups["title"].Value)];

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
