using System.Globalization;
using System.Text.Json;
using LightQ.Cli.Output;
using LightQ.Server.Security;
using LightQ.Storage.Inspection;

namespace LightQ.Cli.Journals;

/// <summary>Says what a repair costs, asks, and does it.</summary>
internal sealed class RepairJob(string path, OutputFormat output, bool isConfirmed, bool isCatalogLossAccepted)
{
    private readonly CommandConsole _console = new();

    /// <returns>
    /// The exit code: <see cref="ExitCode.Unconfirmed"/> when there is something to do and the user did not say yes, 1
    /// when something cannot be repaired.
    /// </returns>
    public int Run(CancellationToken cancellationToken)
    {
        using JournalTarget target = JournalTarget.Open(path);
        List<(string? Name, JournalRepair Repair)> needed = Plan(target, cancellationToken);
        _console.EndProgress();
        bool isJson = output == OutputFormat.Json;
        string[] missing = [.. target.MissingTopics];
        JournalRepair? catalog = needed.Find(n => n.Repair.Report.Directory == target.CatalogDirectory).Repair;
        LostCatalogChanges? lost = catalog is { Refusal: null, Losses.Count: > 0 }
            ? LostCatalogChanges.Find(target.Root!, target.CatalogDirectory!, catalog.Losses)
            : null;
        if (!isJson)
            Describe(needed, missing, catalog, lost);
        foreach (string name in missing)
        {
            _console.Note(
                $"lightq: The catalog knows the topic {name}, but its files are gone. Put its directory back from a "
                    + $"copy, or delete the topic."
            );
        }

        bool isRefused = missing.Length > 0 || needed.Exists(n => n.Repair.Refusal is not null);
        bool canDo = needed.Exists(n => n.Repair.Refusal is null);
        bool goesAhead =
            canDo
            && (isConfirmed || Confirmation.Ask("Do it?"))
            && (
                lost is null
                || isCatalogLossAccepted
                || (
                    !isConfirmed
                    && Confirmation.Ask("Users, rights, tokens and topics may be as they were before.", "accept")
                )
            );
        if (goesAhead && lost is not null)
            // First: after a crash behind it an administrator only checks the catalog once too often.
            CatalogConfirmation.Demand(target.Root!, TextOf(lost));
        var views = new List<RepairView>();
        foreach ((string? name, JournalRepair repair) in needed)
        {
            IReadOnlyList<string> steps = repair.Steps;
            string? report = goesAhead && repair.Refusal is null ? repair.Execute(DateTimeOffset.UtcNow) : null;
            if (report is not null && !isJson)
                CommandConsole.Line($"repaired {name ?? repair.Report.Directory}: {report}");
            views.Add(
                new RepairView(
                    name,
                    repair.Report.Directory,
                    [.. repair.Losses.Select(LossView.From)],
                    steps,
                    repair.Refusal,
                    report,
                    repair == catalog ? lost?.Changes : null
                )
            );
        }
        if (isJson)
            CommandConsole.Line(JsonSerializer.Serialize([.. views], JournalsJson.Default.RepairViewArray));
        if (canDo && !goesAhead)
        {
            _console.Note(
                lost is null
                    ? "lightq: Nothing was changed. Give --yes to do it."
                    : "lightq: Nothing was changed. The catalog has lost changes, so users, rights, tokens and topics "
                        + "that were removed or changed may be as they were before. Give --yes and "
                        + "--accept-lost-catalog-changes to do it."
            );
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
            plans.Add(
                (
                    partition.Name,
                    JournalRepair.Plan(
                        partition.Directory,
                        partition.TopicId,
                        file =>
                        {
                            cancellationToken.ThrowIfCancellationRequested();
                            _console.Progress($"{partition.Title}: {file}");
                        },
                        target.KnownBelow(partition)
                    )
                )
            );
        }
        return [.. plans.Where(p => p.Repair.IsNeeded)];
    }

    private static void Describe(
        List<(string? Name, JournalRepair Repair)> needed,
        string[] missing,
        JournalRepair? catalog,
        LostCatalogChanges? lost
    )
    {
        if (needed.Count == 0 && missing.Length == 0)
            CommandConsole.Line("Nothing is damaged.");
        foreach ((string? name, JournalRepair repair) in needed)
        {
            CommandConsole.Line($"{name ?? "(not in the catalog)"}, in {repair.Report.Directory}:");
            foreach (JournalFinding finding in repair.Report.Findings)
                CommandConsole.Line($"  {FindingView.From(finding).Line}");
            foreach (LossView loss in repair.Losses.Select(LossView.From))
            {
                CommandConsole.Line(
                    string.Create(
                        CultureInfo.InvariantCulture,
                        $"  will be lost: offsets {loss.FirstOffset} to {loss.LastOffset}, {loss.Messages} messages, "
                            + $"{loss.Bytes} bytes in {loss.File}"
                    )
                );
            }

            if (repair.Losses.Count == 0)
                CommandConsole.Line("  nothing will be lost");
            if (repair.Refusal is { } refusal)
            {
                CommandConsole.Line($"  cannot be repaired: {refusal}");
            }
            else
            {
                foreach (string step in repair.Steps)
                    CommandConsole.Line($"  to do: {step}");
            }
            if (repair == catalog && lost is not null)
                Describe(lost);
        }
    }

    private static void Describe(LostCatalogChanges lost)
    {
        CommandConsole.Line(
            "  cannot be mended: what those records of the catalog said. Users, rights, tokens and topics that they "
                + "removed or changed are as they were before, so a deleted user or a revoked token may count again."
        );
        CommandConsole.Line(
            "  A topic whose making is lost is no longer served; its directory stays, see 'lightq journal verify'. A "
                + "named producer whose record is lost is a new one."
        );
        CommandConsole.Line($"  {lost.Source}{(lost.Changes.Count == 0 ? "" : ":")}");
        foreach (LostChangeView change in lost.Changes)
            CommandConsole.Line($"    {change.Line}");
        CommandConsole.Line(
            "  behind it the broker lets only admin log in, with its password, until 'lightq server "
                + "confirm-catalog'"
        );
    }

    private static string TextOf(LostCatalogChanges lost)
    {
        IEnumerable<string> lines =
        [
            string.Create(
                CultureInfo.InvariantCulture,
                $"The catalog was repaired at {DateTimeOffset.UtcNow:u} and has lost changes. Look through users, "
                    + $"rights, tokens and topics, and put them right;"
            ),
            "then 'lightq server confirm-catalog' lets everybody log in again. Until then only admin may.",
            $"{lost.Source}{(lost.Changes.Count == 0 ? "" : ":")}",
            .. lost.Changes.Select(c => "  " + c.Line),
        ];
        return string.Join('\n', lines) + "\n";
    }
}
