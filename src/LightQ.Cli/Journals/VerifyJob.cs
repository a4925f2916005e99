using System.Globalization;
using System.Text.Json;
using LightQ.Cli.Output;
using LightQ.Storage.Inspection;
using Spectre.Console;

namespace LightQ.Cli.Journals;

/// <summary>Reads everything and says what is wrong with it.</summary>
internal sealed class VerifyJob(string path, OutputFormat output)
{
    private readonly CommandConsole _console = new();

    /// <returns>The exit code: 1 when something is damaged.</returns>
    public int Run(CancellationToken cancellationToken)
    {
        VerifyView view = Look(cancellationToken);
        Write(view);
        return view.Verdict == "clean" ? ExitCode.Ok : ExitCode.Failed;
    }

    /// <summary>What it finds.</summary>
    public VerifyView Look(CancellationToken cancellationToken)
    {
        using JournalTarget target = JournalTarget.Open(path);
        var journals = new List<JournalView>();
        foreach (string directory in target.Records)
            journals.Add(JournalView.OfRecords(directory, JournalInspector.InspectRecords(directory)));
        foreach (JournalPartition partition in target.Partitions)
        {
            journals.Add(
                JournalView.Of(
                    partition,
                    JournalInspector.Inspect(
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
        _console.EndProgress();
        string[] missing = [.. target.MissingTopics];
        bool isClean = missing.Length == 0 && !target.IsCatalogGone && journals.TrueForAll(j => j.Verdict == "clean");
        return new VerifyView(
            target.Path,
            isClean ? "clean" : "damaged",
            journals,
            missing,
            target.IsCatalogGone,
            target.Cluster?.Cluster,
            target.Cluster?.Node
        );
    }

    private void Write(VerifyView view)
    {
        if (output == OutputFormat.Json)
        {
            CommandConsole.Line(JsonSerializer.Serialize(view, JournalsJson.Default.VerifyView));
            return;
        }
        Table table = CommandConsole.Table(
            "journal",
            "id",
            "partition",
            "replicas",
            "segments",
            "batches",
            "messages",
            "bytes",
            "first",
            "end",
            "verdict"
        );
        foreach (JournalView j in view.Journals)
        {
            string[] cells =
            [
                j.Name ?? (view.Cluster is null ? "(not in the catalog)" : "(its directory does not say)"),
                j.Id ?? "",
                j.Partition?.ToString(CultureInfo.InvariantCulture) ?? "",
                j.Replicas?.ToString(CultureInfo.InvariantCulture) ?? "",
                Number(j.Segments),
                Number(j.Batches),
                Number(j.Messages),
                Number(j.Bytes),
                Number(j.StartOffset),
                Number(j.EndOffset),
                j.Verdict,
            ];
            table.AddRow([.. cells.Select(Markup.Escape)]);
        }
        _console.Tables.Write(table);
        if (view.Cluster is not null)
        {
            CommandConsole.Line(
                $"This is the node {view.Node} of the cluster {view.Cluster}. The catalog is in the cluster's log, and "
                    + "so are the messages and the groups of topics with replicas: what is here of them is a copy, and "
                    + "a node without it fills it up from there."
            );
        }
        foreach (JournalView journal in view.Journals.Where(j => j.Findings.Count > 0))
        {
            CommandConsole.Line($"{journal.Name ?? journal.Id}, in {journal.Directory}:");
            foreach (FindingView finding in journal.Findings)
                CommandConsole.Line($"  {finding.Line}");
        }
        if (view.CatalogGone)
        {
            CommandConsole.Line(
                "damage: the catalog is gone, which knows the topics' names and settings, users and rights: no broker "
                    + "starts here until it is put back"
            );
        }

        foreach (string name in view.MissingTopics)
            CommandConsole.Line($"damage: the catalog knows the topic {name}, but its files are gone");
    }

    private static string Number(long value) => value.ToString("N0", CultureInfo.InvariantCulture);
}
