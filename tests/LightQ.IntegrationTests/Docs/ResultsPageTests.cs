using System.Text.RegularExpressions;
using Xunit;

namespace LightQ.IntegrationTests.Docs;

/// <summary>
/// What stands between the markers of docs/measured/speed.md is what the benches reported, wherever a report of them is
/// kept.
/// </summary>
public sealed partial class ResultsPageTests
{
    private const string Page = "docs/measured/speed.md";

    [Fact]
    public void Every_table_that_a_script_writes_is_what_the_benches_reported()
    {
        string before = SourceTree.Read(Page),
            after = Section()
                .Replace(
                    before,
                    match =>
                        match.Groups["begin"].Value
                        + TextOf(match.Groups["name"].Value, match.Groups["text"].Value)
                        + match.Groups["end"].Value
                );
        if (Environment.GetEnvironmentVariable("LIGHTQ_WRITE_DOCS") == "1")
            File.WriteAllText(SourceTree.PathOf(Page), before = after);
        Assert.Equal(after, before);
    }

    [Fact]
    public void Every_report_that_is_kept_has_its_place_on_the_page()
    {
        string[] places = [.. Section().Matches(SourceTree.Read(Page)).Select(m => m.Groups["name"].Value)];
        Assert.NotEmpty(places);
        Assert.All(
            Directory
                .EnumerateFiles(SourceTree.PathOf("benchmarks/results"))
                .Select(file => Path.GetFileName(file)!.Split('.')[0])
                .Where(report => report != "README"),
            report => Assert.Contains(report, places)
        );
    }

    [Fact]
    public void A_report_becomes_a_table_with_a_row_for_each_result()
    {
        string[] lines = ResultsTable
            .Of([
                """
                {"command":"lightq bench inprocess","version":"abc","date":"2026-01-02","report":{"scenario":"inprocess","results":[
                {"kind":"ring","size":29,"rate":10000,"messages":100000,"pairs":7,"processes":1,"ratio":1.5,"ratio_p99":4.25,
                 "latency_us":{"p50":0.16,"p90":0.2,"p99":0.45,"p99.9":1.5,"p99.99":9.1234,"max":20,"later_than_20_us_percent":1.256},"yardstick_latency_us":{"p50":0.107,"later_than_20_us_percent":0.9}}]}}
                """,
            ])
            .TrimEnd()
            .Split('\n');

        Assert.Equal(
            "| `lightq bench inprocess` | ring | 29 B | 160 | 200 | 450 | 1,500 | 9,123 | 20,000 | 1.26 | 0.90 | 107 "
                + "| 1.50 | 4.25 |",
            lines[2]
        );
        Assert.Equal("Version `abc`, 2026-01-02.", lines[^1]);
    }

    /// <summary>A section without a report keeps what somebody wrote there.</summary>
    private static string TextOf(string name, string written)
    {
        string parts = SourceTree.PathOf($"benchmarks/results/{name}.md");
        if (File.Exists(parts))
            return File.ReadAllText(parts).ReplaceLineEndings("\n");
        string[] reports =
        [
            .. Directory
                .EnumerateFiles(SourceTree.PathOf("benchmarks/results"), $"{name}.*.json")
                .Order(StringComparer.Ordinal)
                .Select(File.ReadAllText),
        ];
        return reports.Length == 0 ? written : ResultsTable.Of(reports);
    }

    [GeneratedRegex(
        "(?<begin><!-- begin (?<name>[a-z-]+): written by benchmarks/results.sh -->\n)(?<text>.*?)(?<end><!-- end "
            + "-->\n)",
        RegexOptions.Singleline
    )]
    private static partial Regex Section();
}
