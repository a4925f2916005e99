using System.Globalization;
using LightQ.Bench;
using LightQ.Cli.Output;
using Spectre.Console;

namespace LightQ.Cli.Bench.Report;

/// <summary>A report as a table for people.</summary>
internal static class ReportTable
{
    private const double BytesPerGiB = 1024 * 1024 * 1024;

    public static void Write<TResult>(ScenarioView<TResult> view, BenchReport<TResult> report, IAnsiConsole console)
        where TResult : BenchResult
    {
        BenchMachine machine = report.Machine;
        console.WriteLine(
            string.Create(
                CultureInfo.InvariantCulture,
                $"{report.Scenario} on {machine.Cpu}, {machine.Cores} cores, {machine.MemoryBytes / BytesPerGiB:F0} "
                    + $"GiB, {machine.Runtime}, GC {machine.Gc}"
            )
        );
        console.Write(Create(view.Table(report.Results)));
        foreach (string remark in report.Remarks)
            console.WriteLine($"Note: {remark}");
        foreach (string failure in view.Failures(report.Results))
            console.WriteLine(failure);
        foreach (TResult result in report.Results.Where(r => r.Faults > 0).DistinctBy(r => (r.Size, r.Kind)))
        {
            console.WriteLine(
                $"FAILED at {result.Size} B, {result.Kind}: {result.Lost} lost, {result.Duplicated} duplicated, "
                    + $"{result.Reordered} reordered, {result.Damaged} damaged."
            );
        }

        foreach (TResult result in report.Results.Where(r => r.YardstickFaults > 0))
        {
            console.WriteLine(
                $"Note: {result.Yardstick} lost, repeated, reordered or damaged "
                    + $"{Plural.Of(result.YardstickFaults, "message")} at {result.Size} B."
            );
        }
    }

    private static Table Create(ReportRows rows)
    {
        Table table = CommandConsole.Table([.. rows.Columns]);
        foreach (string[] row in rows.Rows)
            table.AddRow([.. row.Select(Markup.Escape)]);
        return table;
    }
}
