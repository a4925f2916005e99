namespace LightQ.Cli.Bench.Report;

/// <summary>A report as one self-contained page.</summary>
internal static class ReportPage
{
    public static string Create(BenchReport report) => report.Scenario;
}
