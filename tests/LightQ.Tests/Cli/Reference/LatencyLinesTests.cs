using LightQ.Bench.Figures;
using LightQ.Cli.Bench.Report;
using LightQ.Cli.Options;
using Xunit;

namespace LightQ.Tests.Cli.Reference;

/// <summary>A latency run with the numbers of the reference document's comes out as it is printed there.</summary>
public sealed class LatencyLinesTests
{
    [Fact]
    public void The_report_is_the_documents_line_by_line()
    {
        var run = new LatencyRun
        {
            PublishRoundTripUs = 1650.9,
            SubscribeRoundTripUs = 2817,
            PercentilesUs = [1998, 2058, 2095, 2132, 2271, 3106, 3126, 3126, 3126, 3126],
            MinUs = 1919,
            FirstSentUs = 153489,
            LastSentUs = 5005243,
            LastReceivedUs = 5006857,
            Messages = 5000,
        };

        Assert.Equal(
            File.ReadAllLines(Path.Combine(AppContext.BaseDirectory, "Cli", "Reference", "latency.txt")),
            LatencyLines.Of(512, 1000, TimeSpan.FromSeconds(5), run)
        );
    }

    [Theory]
    [InlineData(0, "0s")]
    [InlineData(87, "87µs")]
    [InlineData(1650, "1.65ms")]
    [InlineData(999_999, "999.999ms")]
    [InlineData(5_005_243, "5.005243s")]
    [InlineData(65_000_000, "1m5s")]
    [InlineData(3_600_000_000, "1h0m0s")]
    public void Durations_are_written_as_Go_writes_them(long microseconds, string text) =>
        Assert.Equal(text, DurationText.Format(TimeSpan.FromMicroseconds(microseconds)));

    [Theory]
    [InlineData(8, "8B")]
    [InlineData(512, "512B")]
    [InlineData(1024, "1.0K")]
    [InlineData(16_000, "16K")]
    [InlineData(1_024_000, "1000K")]
    [InlineData(1_600_000, "1.5M")]
    public void Sizes_are_short(double bytes, string text) => Assert.Equal(text, SizeText.Short(bytes));

    [Fact]
    public void The_distribution_is_one_that_HdrHistograms_plotter_reads()
    {
        var histogram = new LatencyHistogram(keep: 1000);
        for (int i = 1; i <= 1000; i++)
            histogram.Record(i * 1000);
        using var text = new StringWriter();

        HistogramFiles.WriteDistribution(text, histogram);

        string[] lines = text.ToString().Split('\n', StringSplitOptions.RemoveEmptyEntries);
        Assert.Equal(["Value", "Percentile", "TotalCount", "1/(1-Percentile)"], Fields(lines[0]));
        string[][] rows = [.. lines[1..].Where(l => !l.StartsWith('#')).Select(Fields)];
        Assert.All(rows[..^1], row => Assert.Equal(4, row.Length));
        Assert.Equal(["0.001000", "0.000000000000", "1", "1.00"], rows[0]);
        Assert.Equal(["1.000000", "1.000000000000", "1000"], rows[^1]);
        Assert.Equal("0.100000000000", rows[1][1]);
        Assert.Equal(0.1, Number(rows[1][0]), 0.001);
        Assert.Contains(
            rows,
            row => row[1] == "0.500000000000" && Math.Abs(Number(row[0]) - 0.5) < 0.002 && row[3] == "2.00"
        );
        Assert.Equal(rows.Select(r => Number(r[0])).Order(), rows.Select(r => Number(r[0])));
        Assert.Equal(rows.Select(r => Number(r[2])).Order(), rows.Select(r => Number(r[2])));
        Assert.StartsWith("#[Mean    =", lines[^2], StringComparison.Ordinal);
        Assert.EndsWith("1000]", lines[^1], StringComparison.Ordinal);
        Assert.Equal((1000, 1000, 1_000_000), (histogram.Values.Length, histogram.Values[0], histogram.Values[^1]));
    }

    private static string[] Fields(string line) => line.Split(' ', StringSplitOptions.RemoveEmptyEntries);

    private static double Number(string text) => double.Parse(text, System.Globalization.CultureInfo.InvariantCulture);
}
