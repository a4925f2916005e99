using System.CommandLine;
using System.Globalization;
using LightQ.Bench;
using LightQ.Bench.Checks;
using LightQ.Bench.Sessions;
using LightQ.Bench.Throughput;
using LightQ.Cli.Bench.Report;
using LightQ.Cli.Options;
using LightQ.Cli.Output;
using LightQ.Client;

namespace LightQ.Cli.Bench;

/// <summary><c>lightq bench throughput</c>.</summary>
internal static class BenchThroughputCommand
{
    private const int UsualInFlight = 1000;
    private static readonly int[] UsualSizes = [100, 256, 512, 1024];

    public static Command Create()
    {
        var common = new BenchOptions();
        Option<int[]> sizes = ValueOptions.Sizes(
            s => s >= MessagePattern.SmallestSize,
            $"a size of at least {MessagePattern.SmallestSize} bytes"
        );
        sizes.Description = "Bytes of a message, several with commas. Default: 100,256,512,1024.";
        Option<long?> messages = ValueOptions.Number("--messages", 1L, "-n");
        messages.Description = "Messages of a run. Default: as many as take --duration.";
        Option<TimeSpan?> duration = ValueOptions.Duration("--duration");
        duration.Description = "How long a run lasts, about. Default 2.5s.";
        Option<LoadApi> api = ValueOptions.Choice("--api", LoadApi.Batch, LoadApi.Message, LoadApi.Publish);
        api.Description =
            "batch, the default: whole batches; message: TryPublish and await foreach; publish: every ack awaited.";
        Option<int?> inFlight = ValueOptions.Number("--in-flight", 1);
        inFlight.Description = $"Publishes without an ack at most, with --api publish. Default {UsualInFlight}.";
        Option<bool> catchUp = new("--catch-up")
        {
            Description =
                "The consumer begins when a durable topic holds all messages of the run already: how fast it catches "
                + "up.",
        };
        var tls = new BenchTlsOptions();
        var command = new ExampleCommand(
            "throughput",
            "Messages a second from a producer's process through a broker's to a consumer's, beside a plain byte "
                + "relay in the broker's place.",
            "lightq bench throughput --sizes 100,1024 --pairs 3",
            "lightq bench throughput --kind durable --report durable.html",
            "lightq bench throughput --kind durable --catch-up",
            "lightq bench throughput --api publish --against nats",
            "lightq bench throughput --tls"
        )
        {
            sizes,
            messages,
            duration,
            api,
            inFlight,
            catchUp,
        };
        tls.AddTo(command);
        common.AddTo(command);
        command.SetAction(
            (parsed, cancellationToken) =>
            {
                BenchSettings settings = tls.Read(parsed, common.Read(parsed)) with
                {
                    Sizes = parsed.GetValue(sizes) is { Length: > 0 } given ? given : UsualSizes,
                    Messages = parsed.GetValue(messages),
                    Api = parsed.GetValue(api),
                    InFlight = parsed.GetValue(inFlight) ?? UsualInFlight,
                    CatchUp = parsed.GetValue(catchUp),
                };
                ThrowIfNothingToCatchUpWith(settings);
                settings = settings with { Duration = parsed.GetValue(duration) ?? settings.Duration };
                var run = new BenchRun<ThroughputResult>(
                    new ThroughputView(settings.CatchUp),
                    settings,
                    parsed.GetValue(common.Output),
                    parsed.GetValue(common.Report)
                );
                return run.ExecuteAsync(
                    (session, console) => new ThroughputBench(settings, session, console).RunAsync(cancellationToken),
                    cancellationToken
                );
            }
        );
        return command;
    }

    private static void ThrowIfNothingToCatchUpWith(BenchSettings settings)
    {
        if (!settings.CatchUp)
            return;
        if (settings.Kind != TopicKind.Durable)
        {
            throw new CommandException(
                ExitCode.Usage,
                "--catch-up needs --kind durable: a transient topic keeps nothing for a consumer that comes later."
            );
        }

        foreach (int size in settings.Sizes)
        {
            long most = ThroughputBench.MostMessages(size);
            if (settings.Messages > most)
            {
                throw new CommandException(
                    ExitCode.Usage,
                    string.Create(
                        CultureInfo.InvariantCulture,
                        $"--messages {settings.Messages} of {size} B are more than a consumer can catch up with here; "
                            + $"allowed: {most} at most, {BenchSession.MostBacklogBytes >> 30} GiB, so that they are "
                            + $"in the page cache."
                    )
                );
            }
        }
    }
}
