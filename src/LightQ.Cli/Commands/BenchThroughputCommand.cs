using System.CommandLine;
using LightQ.Cli.Bench;
using LightQ.Cli.Bench.Roles;

namespace LightQ.Cli.Commands;

/// <summary><c>lightq bench throughput</c>.</summary>
internal static class BenchThroughputCommand
{
    private const int UsualInFlight = 1000;
    private static readonly int[] UsualSizes = [100, 256, 512, 1024];

    public static Command Create()
    {
        var common = new BenchOptions();
        Option<int[]> sizes = ValueOptions.Sizes(s => s >= MessagePattern.SmallestSize, $"a size of at least {MessagePattern.SmallestSize} bytes");
        sizes.Description = "Bytes of a message, several with commas. Default: 100,256,512,1024.";
        Option<long?> messages = ValueOptions.Number("--messages", 1L, "-n");
        messages.Description = "Messages of a run. Default: as many as take --duration.";
        Option<TimeSpan?> duration = ValueOptions.Duration("--duration");
        duration.Description = "How long a run lasts, about. Default 2.5s.";
        Option<LoadApi> api = ValueOptions.Choice("--api", LoadApi.Batch, LoadApi.Message, LoadApi.Publish);
        api.Description = "batch, the default: whole batches; message: TryPublish and await foreach; publish: every ack awaited.";
        Option<int?> inFlight = ValueOptions.Number("--in-flight", 1);
        inFlight.Description = $"Publishes without an ack at most, with --api publish. Default {UsualInFlight}.";
        var command = new ExampleCommand(
            "throughput",
            "Messages a second from a producer's process through a broker's to a consumer's, beside a plain byte relay in the broker's place.",
            "lightq bench throughput --sizes 100,1024 --pairs 3",
            "lightq bench throughput --kind durable --report durable.html",
            "lightq bench throughput --api publish --against nats")
        {
            sizes, messages, duration, api, inFlight,
        };
        common.AddTo(command);
        command.SetAction((parsed, cancellationToken) =>
        {
            BenchSettings settings = common.Read(parsed) with
            {
                Sizes = parsed.GetValue(sizes) is { Length: > 0 } given ? given : UsualSizes,
                Messages = parsed.GetValue(messages),
                Api = parsed.GetValue(api),
                InFlight = parsed.GetValue(inFlight) ?? UsualInFlight,
            };
            settings = settings with { Duration = parsed.GetValue(duration) ?? settings.Duration };
            var run = new BenchRun("throughput", settings, parsed.GetValue(common.Output), parsed.GetValue(common.Report));
            return run.ExecuteAsync((session, console) => new ThroughputBench(settings, session, console).RunAsync(cancellationToken), cancellationToken);
        });
        return command;
    }
}
