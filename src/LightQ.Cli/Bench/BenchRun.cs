using LightQ.Bench;
using LightQ.Bench.Sessions;
using LightQ.Cli.Bench.Report;
using LightQ.Cli.Output;

namespace LightQ.Cli.Bench;

/// <summary>One bench from start to report.</summary>
internal sealed class BenchRun<TResult>(
    ScenarioView<TResult> view,
    BenchSettings settings,
    OutputFormat output,
    string? reportFile
)
    where TResult : BenchResult
{
    /// <summary>What the scenario's figures must be read with, besides what follows from the settings.</summary>
    public IReadOnlyList<string> Remarks { get; set; } = [];

    /// <summary>What else is printed above the table, once measured.</summary>
    public Func<IReadOnlyList<TResult>, IEnumerable<string>> Lines { get; set; } = _ => [];

    /// <summary>Measures with the usual processes: a broker, a producer, a consumer.</summary>
    /// <returns>The exit code: failed when a message was lost, repeated, reordered or damaged.</returns>
    public Task<int> ExecuteAsync(
        Func<BenchSession, IBenchConsole, Task<IReadOnlyList<TResult>>> measure,
        CancellationToken cancellationToken
    ) =>
        ExecuteAsync(
            async console =>
            {
                await using BenchSession session = await BenchSession.StartAsync(settings, cancellationToken);
                return await measure(session, console);
            },
            cancellationToken
        );

    /// <summary>Measures with processes of the scenario's own.</summary>
    /// <returns>The exit code: failed when a message was lost, repeated, reordered or damaged.</returns>
    public async Task<int> ExecuteAsync(
        Func<IBenchConsole, Task<IReadOnlyList<TResult>>> measure,
        CancellationToken cancellationToken
    )
    {
        var console = new CommandConsole();
        BenchReport<TResult> report;
        try
        {
            IReadOnlyList<TResult> results = await measure(console);
            report = new BenchReport<TResult>
            {
                Scenario = view.Name,
                Remarks = [.. Remarks, .. SettingRemarks()],
                Machine = BenchMachine.Current(),
                Results = results,
            };
        }
        finally
        {
            console.EndProgress();
        }
        if (output == OutputFormat.Json)
        {
            CommandConsole.Line(ReportWriter.Write(report));
        }
        else
        {
            foreach (string line in Lines(report.Results))
                CommandConsole.Line(line);
            ReportTable.Write(view, report, console.Tables);
        }
        if (reportFile is not null)
            await File.WriteAllTextAsync(reportFile, ReportPage.Create(view, report), cancellationToken);
        return report.Results.All(r => r.IsSound) ? ExitCode.Ok : ExitCode.Failed;
    }

    private IEnumerable<string> SettingRemarks()
    {
        if (settings.Pairs < BenchSettings.UsualPairs && !settings.MeasureLatency)
        {
            yield return $"Only {Plural.Of(settings.Pairs, "pair")}; {BenchSettings.UsualPairs} are usual, fewer say "
                + $"less.";
        }
        if (settings.StampActual)
            yield return "Stamps are the times of sending: a stall of the sender does not count.";
        if (settings.Tls is not null)
            yield return "All connections are encrypted with TLS; the relay decrypts and encrypts everything too.";
        if (settings.Server is not null)
            yield return "The broker is not a child of this process; its CPU time and memory are not known.";
    }
}
