using System.Globalization;
using LightQ.Bench.Figures;
using LightQ.Cli.Bench.Report;
using Xunit;

namespace LightQ.Tests.Cli.Reference;

/// <summary>
/// Every table of the reference document comes out of its own numbers as it is printed there, field by field.
/// </summary>
public sealed class JlbhSummaryTests
{
    private const double Rounding = 0.005;

    private static readonly (string Name, string[] Lines)[] Tables =
    [
        .. File.ReadAllText(Path.Combine(AppContext.BaseDirectory, "Cli", "Reference", "jlbh.txt"))
            .Split("# ", StringSplitOptions.RemoveEmptyEntries)
            .Select(part => part.TrimEnd().Split('\n'))
            .Select(lines => (lines[0], lines[1..])),
    ];

    public static TheoryData<string> Names => [.. Tables.Select(t => t.Name)];

    [Fact]
    public void The_document_has_eight_tables() => Assert.Equal(8, Tables.Length);

    [Theory]
    [MemberData(nameof(Names))]
    public void A_table_is_the_documents_line_by_line(string name)
    {
        string[] lines = [.. Tables.Single(t => t.Name == name).Lines.Select(l => l.TrimEnd())];
        int last = Array.FindLastIndex(lines, l => l.Contains(':', StringComparison.Ordinal));
        (string Name, double[] Values, double Variation)[] rows = [.. lines[2..(last + 1)].Select(Row)];

        string[] written = [.. JlbhSummary.Of([.. rows.Select(r => (r.Name, (IReadOnlyList<double>)r.Values))])];

        Assert.Equal(lines[..2], written[..2]);
        Assert.Equal(rows.Length + 3, written.Length);
        for (int i = 0; i < rows.Length; i++)
        {
            string line = lines[i + 2],
                mine = written[i + 2];
            Assert.Equal(line.Length, mine.Length);
            // All but the variation, which the document computed from numbers before they were rounded.
            Assert.Equal(line[..line.LastIndexOf(' ')].TrimEnd(), mine[..mine.LastIndexOf(' ')].TrimEnd());
            (double least, double most) = Variations(rows[i].Values);
            Assert.InRange(rows[i].Variation, least - Rounding, most + Rounding);
            Assert.InRange(Row(mine).Variation, least - Rounding, most + Rounding);
        }
        if (last + 1 < lines.Length)
            Assert.Equal(lines[last + 1], written[^1]);
    }

    [Fact]
    public void The_first_run_is_not_in_the_variation_and_one_run_has_none()
    {
        Assert.Equal(100 * (3.0 - 1) / (3 + 0.5), JlbhSummary.VariationOf([1000, 1, 2, 3]), 9);
        Assert.Equal(0, JlbhSummary.VariationOf([5, 7]));
        Assert.Equal(0, JlbhSummary.VariationOf([5]));
    }

    [Fact]
    public void Runs_of_a_million_have_a_row_more_than_shorter_ones()
    {
        Assert.Equal(["50", "90", "99", "99.9", "99.99", "worst"], RowsOf(1000));
        Assert.Equal(["50", "90", "99", "99.9", "99.99", "99.999", "worst"], RowsOf(1_000_000));
    }

    private static string[] RowsOf(int values)
    {
        var histogram = new LatencyHistogram();
        for (int i = 0; i < values; i++)
            histogram.Record(i);
        LatencyFigures figures = LatencyFigures.OfHandOvers(histogram);
        return
        [
            .. JlbhSummary
                .Of([figures, figures])
                .Where(l => l.Contains(':', StringComparison.Ordinal))
                .Select(l => Row(l).Name),
        ];
    }

    /// <summary>What the formula may give for numbers that are rounded to these.</summary>
    private static (double Least, double Most) Variations(double[] values)
    {
        double[] counted = values[1..];
        double min = counted.Min(),
            max = counted.Max();
        return counted.Length == 1
            ? (0, 0)
            : (
                Math.Max(
                    0,
                    JlbhSummary.VariationOf([0, min + Rounding, max - Rounding]) * (max - min > 2 * Rounding ? 1 : 0)
                ),
                JlbhSummary.VariationOf([0, min - Rounding, max + Rounding])
            );
    }

    private static (string Name, double[] Values, double Variation) Row(string line)
    {
        string[] fields = line.Split(' ', StringSplitOptions.RemoveEmptyEntries);
        double[] numbers = [.. fields[1..].Select(f => double.Parse(f, CultureInfo.InvariantCulture))];
        return (fields[0].TrimEnd(':'), numbers[..^1], numbers[^1]);
    }
}
