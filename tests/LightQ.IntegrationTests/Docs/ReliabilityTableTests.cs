using System.Globalization;
using System.Text;
using System.Text.Json;
using Xunit;

namespace LightQ.IntegrationTests.Docs;

/// <summary>The table in RELIABILITY.md is what the fault tests reported, and nothing else.</summary>
public sealed class ReliabilityTableTests
{
    private const string Page = "RELIABILITY.md";
    private const string Begin = "<!-- begin: written by tests/reliability.sh -->\n";
    private const string End = "<!-- end -->\n";

    [Fact]
    public void The_table_is_what_the_fault_tests_reported()
    {
        string text = SourceTree.Read(Page);
        int begin = text.IndexOf(Begin, StringComparison.Ordinal) + Begin.Length;
        int end = text.IndexOf(End, begin, StringComparison.Ordinal);
        string table = Table();
        if (Environment.GetEnvironmentVariable("LIGHTQ_WRITE_DOCS") == "1")
        {
            text = text[..begin] + table + text[end..];
            File.WriteAllText(SourceTree.PathOf(Page), text);
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
            string figures = string.Join(", ", row.Counts.Select(c => $"{c.Key} {c.Value.ToString("N0", CultureInfo.InvariantCulture)}"));
            table.Append(CultureInfo.InvariantCulture, $"| {row.Id} | {row.Fault} | {row.Tier} | {figures} | {row.Seconds} | `{row.Commit}` |\n");
        }
        return table.ToString();
    }

    private static IEnumerable<Row> Rows() => Directory.EnumerateFiles(SourceTree.PathOf("tests/reliability"), "*.json")
        .Select(file => JsonSerializer.Deserialize<Row>(File.ReadAllText(file), JsonSerializerOptions.Web)!)
        .OrderBy(row => row.Id[0])
        .ThenBy(row => int.TryParse(row.Id[1..].Split('.')[0], CultureInfo.InvariantCulture, out int number) ? number : int.MaxValue)
        .ThenBy(row => row.Id, StringComparer.Ordinal)
        .ThenBy(row => row.Tier, StringComparer.Ordinal);

    private sealed record Row(string Id, string Fault, string Tier, string Commit, int Seconds, SortedDictionary<string, long> Counts);
}
