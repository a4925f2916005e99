using System.CommandLine;
using LightQ.Cli.Options;
using LightQ.Cli.Output;
using LightQ.Storage.Backups;

namespace LightQ.Cli.Backups;

/// <summary><c>lightq restore</c>: makes a data directory of a backup.</summary>
internal static class RestoreCommand
{
    public static Command Create()
    {
        Argument<string> folder = new("FOLDER") { Description = "The backup's folder." };
        Option<string> data = new("--data")
        {
            Description = "The data directory to make; missing or empty.",
            HelpName = "DIRECTORY",
            Required = true,
        };
        Option<OutputFormat> output = CommonOptions.Output();
        var command = new ExampleCommand(
            "restore",
            "Verify a backup and make a data directory of it, for 'lightq server --data'. The broker that starts on "
                + "it makes a new admin password.",
            "lightq restore ./backup --data /var/lib/lightq"
        )
        {
            folder,
            data,
            output,
        };
        command.SetAction(
            (parsed, cancellationToken) =>
            {
                var console = new CommandConsole();
                (string from, string to) = (parsed.GetRequiredValue(folder), parsed.GetRequiredValue(data));
                BackupManifest manifest = BackupRestore.Run(
                    from,
                    to,
                    new BackupProgress(console).Restoring,
                    cancellationToken
                );
                console.EndProgress();
                BackupCommand.Write(
                    BackupView.Of(from, manifest) with
                    {
                        Data = Path.GetFullPath(to),
                    },
                    "Restored",
                    parsed.GetValue(output)
                );
                return Task.FromResult(ExitCode.Ok);
            }
        );
        return command;
    }
}
