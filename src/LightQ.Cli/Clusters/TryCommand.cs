using System.CommandLine;
using LightQ.Cli.Options;
using LightQ.Cli.Output;

namespace LightQ.Cli.Clusters;

/// <summary><c>lightq cluster try</c>.</summary>
internal static class TryCommand
{
    private const string UsualFolder = "lightq-try";

    public static Command Create()
    {
        Option<string> folder = new("--folder")
        {
            Description = "Where data, configurations and logs are; what is there is used again.",
            HelpName = "FOLDER",
            DefaultValueFactory = _ => UsualFolder,
        };
        Option<TimeSpan?> killEvery = ValueOptions.Duration("--kill-every");
        killEvery.Description =
            "Publish and consume all the time, and kill (-9) a broker that leads a partition this often; count what is "
            + "lost and what comes twice.";
        Option<TimeSpan?> duration = ValueOptions.Duration("--for");
        duration.Description = "How long. Default: until Ctrl-C.";
        Option<OutputFormat> output = CommonOptions.Output();
        var command = new ExampleCommand(
            "try",
            "Start a cluster on this machine: three nats-servers, which must be on the PATH, and three brokers. Prints "
                + "the connection string and shows who leads what; Ctrl-C ends all. The exit code is 1 when a message "
                + "was lost or came twice.",
            "lightq cluster try",
            "lightq cluster try --kill-every 5s --for 60s"
        )
        {
            folder,
            killEvery,
            duration,
            output,
        };
        command.SetAction(
            (parsed, cancellationToken) =>
                new TryRun
                {
                    Folder = Path.GetFullPath(parsed.GetValue(folder)!),
                    KillEvery = parsed.GetValue(killEvery),
                    Duration = parsed.GetValue(duration),
                    IsJson = parsed.GetValue(output) == OutputFormat.Json,
                }.RunAsync(cancellationToken)
        );
        return command;
    }
}
