namespace LightQ.Cli.Bench.Report;

/// <summary>A table of a report, for people: on the terminal, and on the page.</summary>
internal sealed record ReportRows(IReadOnlyList<string> Columns, IReadOnlyList<string[]> Rows);
