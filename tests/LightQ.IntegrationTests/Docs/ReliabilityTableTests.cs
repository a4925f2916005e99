using System.Globalization;
using System.Text;
using System.Text.Json;
using Xunit;

namespace LightQ.IntegrationTests.Docs;

/// <summary>
/// The tables in docs/measured/faults.md and docs/measured/fuzzing.md are what the fault tests and the fuzzers
/// reported, and nothing else.
/// </summary>
public sealed class ReliabilityTableTests
{
    [Fact]
    public void The_tables_are_what_the_fault_tests_and_the_fuzzers_reported()
    {
        Check(
            "docs/measured/faults.md",
            "<!-- begin: written by tests/reliability.sh -->\n",
            "<!-- end -->\n",
            Table()
        );
        Check(
            "docs/measured/fuzzing.md",
            "<!-- begin: written by tests/fuzz.sh -->\n",
            "<!-- end of fuzzing -->\n",
            FuzzTable()
        );
    }

    private static void Check(string page, string first, string last, string table)
    {
        string text = SourceTree.Read(page);
        int begin = text.IndexOf(first, StringComparison.Ordinal) + first.Length;
        int end = text.IndexOf(last, begin, StringComparison.Ordinal);
        if (Environment.GetEnvironmentVariable("LIGHTQ_WRITE_DOCS") == "1")
        {
            text = text[..begin] + table + text[end..];
            File.WriteAllText(SourceTree.PathOf(page), text);
            end = begin + table.Length;
        }
        Assert.Equal(table, text[begin..end]);
    }

    private static string Table()
    {
        var table = new StringBuilder();
        table.Append("| row | fault | tier | figures | seconds | version |\n|---|---|---|---|---|---|\n");
        foreach (Row row in Rows())
        {
            string figures = string.Join(
                ", ",
                row.Counts.Select(c => $"{c.Key} {c.Value.ToString("N0", CultureInfo.InvariantCulture)}")
            );
            table.Append(
                CultureInfo.InvariantCulture,
                $"| {row.Id} | {row.Fault} | {row.Tier} | {figures} | {row.Seconds} | `{row.Commit}` |\n"
            );
        }
        return table.ToString();
    }

    private static string FuzzTable()
    {
        var table = new StringBuilder();
        table.Append(
            "| parser | reads | inputs | a second | not refused | kinds of typed error | longest ms | largest "
                + "allocation, bytes | faults | version |\n|---|---|---|---|---|---|---|---|---|---|\n"
        );
        foreach (
            string file in Directory
                .EnumerateFiles(SourceTree.PathOf("tests/reliability/fuzz"), "*.json")
                .Order(StringComparer.Ordinal)
        )
        {
            FuzzRow row = JsonSerializer.Deserialize<FuzzRow>(File.ReadAllText(file), JsonSerializerOptions.Web)!;
            table.Append(
                CultureInfo.InvariantCulture,
                $"| {row.Target} | {row.What} | {row.Executions:N0} | {row.PerSecond:N0} | {row.Accepted:N0} | "
                    + $"{row.TypedErrors} "
            );
            table.Append(
                CultureInfo.InvariantCulture,
                $"| {row.LongestMilliseconds} | {row.LargestAllocation:N0} | {row.Faults} | `{row.Commit}` |\n"
            );
        }
        return table.ToString();
    }

    private static IEnumerable<Row> Rows() =>
        Directory
            .EnumerateFiles(SourceTree.PathOf("tests/reliability"), "*.json")
            .Select(file => JsonSerializer.Deserialize<Row>(File.ReadAllText(file), JsonSerializerOptions.Web)!)
            .OrderBy(row => row.Id[0])
            .ThenBy(row =>
                int.TryParse(row.Id[1..].Split('.')[0], CultureInfo.InvariantCulture, out int number)
                    ? number
                    : int.MaxValue
            )
            .ThenBy(row => row.Id, StringComparer.Ordinal)
            .ThenBy(row => row.Tier, StringComparer.Ordinal);

    private sealed record FuzzRow(
        string Target,
        string What,
        string Commit,
        long Executions,
        long PerSecond,
        long Accepted,
        int TypedErrors,
        long LongestMilliseconds,
        long LargestAllocation,
        int Faults
    );

    private sealed record Row(
        string Id,
        string Fault,
        string Tier,
        string Commit,
        int Seconds,
        SortedDictionary<string, long> Counts
    );
}
