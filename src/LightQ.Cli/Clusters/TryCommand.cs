using System.CommandLine;
using LightQ.Bench.Processes;
using LightQ.Cli.Options;
using LightQ.Cli.Output;

namespace LightQ.Cli.Clusters;

/// <summary><c>lightq cluster try</c>.</summary>
internal static class TryCommand
{
    private const string UsualFolder = "lightq-try",
        All = "all";

    private static readonly TimeSpan UsualPause = TimeSpan.FromSeconds(10);

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
            + "lost and what comes twice. The same as --nemesis kill-broker --every DURATION.";
        Option<TryFault[]> nemesis = Faults();
        Option<TimeSpan?> every = ValueOptions.Duration("--every");
        every.Description = "With --nemesis: the time from the end of a fault to the next one. Default: 10s.";
        Option<TimeSpan?> duration = ValueOptions.Duration("--for");
        duration.Description = "How long. Default: until Ctrl-C.";
        Option<OutputFormat> output = CommonOptions.Output();
        var command = new ExampleCommand(
            "try",
            "Start a cluster on this machine: three nats-servers, which must be on the PATH, and three brokers. Prints "
                + "the connection string and shows who leads what; Ctrl-C ends all. The exit code is 1 when a message "
                + "was lost or came twice.",
            "lightq cluster try",
            "lightq cluster try --kill-every 5s --for 60s",
            "lightq cluster try --nemesis all --every 5s --for 5m"
        )
        {
            folder,
            killEvery,
            nemesis,
            every,
            duration,
            output,
        };
        command.Validators.Add(result =>
        {
            bool hasFaults = result.GetResult(nemesis) is not null;
            if (hasFaults && result.GetResult(killEvery) is not null)
                result.AddError("--kill-every is --nemesis kill-broker: give one of them.");
            if (!hasFaults && result.GetResult(every) is not null)
                result.AddError("--every is the time between the faults of --nemesis, which is missing.");
        });
        command.SetAction(
            (parsed, cancellationToken) =>
                new TryRun
                {
                    Folder = Path.GetFullPath(parsed.GetValue(folder)!),
                    Faults = parsed.GetValue(killEvery) is not null
                        ? [TryFault.KillBroker]
                        : parsed.GetValue(nemesis) ?? [],
                    Every = parsed.GetValue(killEvery) ?? parsed.GetValue(every) ?? UsualPause,
                    Duration = parsed.GetValue(duration),
                    IsJson = parsed.GetValue(output) == OutputFormat.Json,
                }.RunAsync(cancellationToken)
        );
        return command;
    }

    private static Option<TryFault[]> Faults()
    {
        string[] words = [.. Enum.GetValues<TryFault>().Select(ValueOptions.Hyphenated)];
        var option = new Option<TryFault[]>("--nemesis")
        {
            Description =
                "Publish and consume all the time, and do these faults in turn, with commas, or all: kill (-9), stop "
                + "or pause (5 s) a broker that leads a partition, kill or pause the nats-server that leads, kill "
                + "everything at once. Counts what is lost and what comes twice, and says for how long a producer "
                + "got no ack.",
            HelpName = "FAULT,...",
            CustomParser = result =>
            {
                var faults = new List<TryFault>();
                foreach (string word in result.Tokens.SelectMany(token => token.Value.Split(',')))
                {
                    if (word == All)
                        faults.AddRange(Enum.GetValues<TryFault>());
                    else if (Array.IndexOf(words, word) is >= 0 and var index)
                        faults.Add((TryFault)index);
                    else
                        result.AddError($"'{word}' is not one of {string.Join(", ", words)}, {All}.");
                }
                if (!ProcessSignal.IsSupported)
                    result.AddError("--nemesis needs signals, which Windows does not have.");
                return [.. faults];
            },
        };
        option.CompletionSources.Clear();
        option.CompletionSources.Add([.. words, All]);
        return option;
    }
}
