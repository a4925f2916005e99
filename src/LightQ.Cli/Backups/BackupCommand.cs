using System.CommandLine;
using System.Globalization;
using System.Text.Json;
using LightQ.Cli.Options;
using LightQ.Cli.Output;
using LightQ.Storage.Backups;

namespace LightQ.Cli.Backups;

/// <summary><c>lightq backup</c>: a verified copy of everything that a running broker keeps.</summary>
internal static class BackupCommand
{
    public static Command Create()
    {
        Argument<string> folder = new("FOLDER") { Description = "Where the backup goes; missing or empty." };
        Option<long?> rate = ValueOptions.Size("--rate");
        rate.Description =
            "How fast at most, in bytes a second, to spare the broker's disk and network. Default: as fast as it goes.";
        Option<bool> allowDamaged = new("--allow-damaged")
        {
            Description =
                "Keep damaged partitions as they are, and leave out topics of which the broker could not open a "
                + "partition. Without it, a backup of a damaged broker is refused.",
        };
        var broker = new BrokerChoice();
        Option<OutputFormat> output = CommonOptions.Output();
        var command = new ExampleCommand(
            "backup",
            "Copy everything that a running broker keeps into a folder, as of one moment, and verify it. Needs the "
                + "right admin. The folder holds messages and password hashes: keep it as safe as the broker.",
            "lightq backup ./backup",
            "lightq backup ./backup --server 'lightq://admin@broker.example?tls=true' --rate 50MiB",
            "lightq backup verify ./backup"
        )
        {
            folder,
            rate,
            allowDamaged,
            output,
        };
        broker.AddTo(command);
        command.SetAction(
            async (parsed, cancellationToken) =>
            {
                var job = new BackupJob(
                    parsed.GetRequiredValue(folder),
                    parsed.GetValue(rate) ?? 0,
                    parsed.GetValue(allowDamaged),
                    new CommandConsole()
                );
                BackupView made = await job.RunAsync(broker.Read(parsed), cancellationToken);
                Write(made, "Backed up", parsed.GetValue(output));
                return ExitCode.Ok;
            }
        );
        command.Add(Verify());
        return command;
    }

    /// <summary>Says what was done with a backup.</summary>
    public static void Write(BackupView backup, string done, OutputFormat output)
    {
        if (output == OutputFormat.Json)
        {
            CommandConsole.Line(JsonSerializer.Serialize(backup, BackupsJson.Default.BackupView));
            return;
        }
        string what = string.Create(
            CultureInfo.InvariantCulture,
            $"{Plural.Of(backup.Topics, "topic")} ({backup.DurableTopics:N0} durable), "
                + $"{Plural.Of(backup.Files, "file")}, {SizeText.Short(backup.Bytes)}, as of {backup.Time:u}"
        );
        CommandConsole.Line(
            backup.Data is null
                ? $"{done} {backup.Folder}: {what}."
                : $"{done} {backup.Folder} into {backup.Data}: {what}."
        );
        foreach (string partition in backup.Damaged)
            CommandConsole.Line($"damaged on the broker, and kept as it was: {partition}");
        foreach (BackupReplicas topic in backup.Data is null ? [] : backup.Replicated ?? [])
        {
            CommandConsole.Line(
                $"{topic.Topic} had {topic.Replicas} replicas, and has none now; in a cluster 'lightq topic replicate "
                    + $"{topic.Topic} --replicas {topic.Replicas}' gives them back"
            );
        }
        foreach (string topic in backup.SkippedTopics ?? [])
            CommandConsole.Line($"left out, since the broker could not open it: {topic}");
    }

    private static ExampleCommand Verify()
    {
        Argument<string> folder = new("FOLDER") { Description = "The backup's folder." };
        Option<OutputFormat> output = CommonOptions.Output();
        var command = new ExampleCommand(
            "verify",
            "Read a whole backup and compare it with its manifest; ends with 1, and names the file, if something is "
                + "missing or damaged. Changes nothing.",
            "lightq backup verify ./backup"
        )
        {
            folder,
            output,
        };
        command.SetAction(
            (parsed, cancellationToken) =>
            {
                var console = new CommandConsole();
                string path = parsed.GetRequiredValue(folder);
                BackupManifest manifest = BackupVerification.Verify(
                    path,
                    new BackupProgress(console).Verifying,
                    cancellationToken
                );
                console.EndProgress();
                Write(BackupView.Of(path, manifest), "Verified", parsed.GetValue(output));
                return Task.FromResult(ExitCode.Ok);
            }
        );
        return command;
    }
}
