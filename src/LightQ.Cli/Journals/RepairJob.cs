using System.Globalization;
using LightQ.Cli.Output;
using LightQ.Storage.Inspection;

namespace LightQ.Cli.Journals;

/// <summary>Says what a repair costs, asks, and does it.</summary>
internal sealed class RepairJob(string path, OutputFormat output, bool isConfirmed)
{
    private readonly CommandConsole _console = new();

    /// <returns>The exit code: <see cref="ExitCode.Unconfirmed"/> when there is something to do and nobody said yes, 1 when something cannot be mended.</returns>
    public int Run(CancellationToken cancellationToken)
    {
        using JournalTarget target = JournalTarget.Open(path);
        List<(string? Name, JournalRepair Repair)> needed = Plan(target, cancellationToken);
        _console.EndProgress();
        bool isJson = output == OutputFormat.Json;
        string[] missing = [.. target.MissingTopics];
        if (!isJson)
            Describe(needed, missing);
        foreach (string name in missing)
            _console.Note($"lightq: The catalog knows the topic {name}, but its files are gone. Put its directory back from a copy, or delete the topic.");
        bool isRefused = missing.Length > 0 || needed.Exists(n => n.Repair.Refusal is not null);
        bool canDo = needed.Exists(n => n.Repair.Refusal is null);
        bool goesAhead = canDo && (isConfirmed || Confirmation.Ask("Do it?"));
        var views = new List<RepairView>();
        foreach ((string? name, JournalRepair repair) in needed)
        {
            IReadOnlyList<string> steps = repair.Steps;
            string? report = goesAhead && repair.Refusal is null ? repair.Execute(DateTimeOffset.UtcNow) : null;
            if (report is not null && !isJson)
                CommandConsole.Line($"repaired {name ?? repair.Report.Directory}: {report}");
            views.Add(new RepairView(name, repair.Report.Directory, [.. repair.Losses.Select(LossView.From)], steps, repair.Refusal, report));
        }
        if (isJson)
            CommandConsole.Line(CliJson.Write([.. views], CliJson.Default.RepairViewArray));
        if (canDo && !goesAhead)
        {
            _console.Note("lightq: Nothing was changed. Say --yes to do it.");
            return ExitCode.Unconfirmed;
        }
        return isRefused ? ExitCode.Failed : ExitCode.Ok;
    }

    private List<(string? Name, JournalRepair Repair)> Plan(JournalTarget target, CancellationToken cancellationToken)
    {
        var plans = new List<(string?, JournalRepair Repair)>();
        foreach (string directory in target.Records)
            plans.Add((Path.GetFileName(directory), JournalRepair.PlanRecords(directory)));
        foreach (JournalPartition partition in target.Partitions)
        {
            plans.Add((partition.Name, JournalRepair.Plan(partition.Directory, partition.TopicId, file =>
            {
                cancellationToken.ThrowIfCancellationRequested();
                _console.Progress($"{partition.Title}: {file}");
            })));
        }
        return [.. plans.Where(p => p.Repair.IsNeeded)];
    }

    private static void Describe(List<(string? Name, JournalRepair Repair)> needed, string[] missing)
    {
        if (needed.Count == 0 && missing.Length == 0)
            CommandConsole.Line("Nothing is damaged.");
        foreach ((string? name, JournalRepair repair) in needed)
        {
            CommandConsole.Line($"{name ?? "(not in the catalog)"}, in {repair.Report.Directory}:");
            foreach (JournalFinding finding in repair.Report.Findings)
                CommandConsole.Line($"  {FindingView.From(finding).Line}");
            foreach (LossView loss in repair.Losses.Select(LossView.From))
                CommandConsole.Line(string.Create(CultureInfo.InvariantCulture, $"  will be lost: offsets {loss.FirstOffset} to {loss.LastOffset}, {loss.Messages} messages, {loss.Bytes} bytes in {loss.File}"));
            if (repair.Losses.Count == 0)
                CommandConsole.Line("  nothing will be lost");
            if (repair.Refusal is { } refusal)
                CommandConsole.Line($"  cannot be repaired: {refusal}");
            else
            {
                foreach (string step in repair.Steps)
                    CommandConsole.Line($"  to do: {step}");
            }
            if (name == "catalog" && repair.Losses.Count > 0)
                CommandConsole.Line("  cannot be mended: what those records of the catalog said. A topic whose making is lost is no longer served; its directory stays, see 'lightq journal verify'.");
        }
    }
}
