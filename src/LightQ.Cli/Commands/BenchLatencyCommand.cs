using System.CommandLine;
using LightQ.Cli.Bench;

namespace LightQ.Cli.Commands;

/// <summary><c>lightq bench latency</c>.</summary>
internal static class BenchLatencyCommand
{
    private const int UsualSize = 512, UsualRate = 1000;
    private static readonly TimeSpan UsualDuration = TimeSpan.FromSeconds(5);

    public static Command Create()
    {
        var common = new BenchOptions();
        Option<int?> size = ValueOptions.Number("--size", MessagePattern.SmallestSize, "-sz");
        size.Description = $"Bytes of a message. Default {UsualSize}.";
        Option<double?> rate = ValueOptions.Number("--rate", 0.1, "-tr");
        rate.Description = $"Messages a second. Default {UsualRate}.";
        Option<TimeSpan?> duration = ValueOptions.Duration("--duration", aliases: "-tt");
        duration.Description = "How long a run lasts. Default 5s.";
        Option<string> stamp = new("--stamp") { Description = "due: latency counts from when sending was due, so that a stall counts; actual: from when it was sent.", DefaultValueFactory = _ => "due" };
        stamp.AcceptOnlyFromAmong("due", "actual");
        var command = new ExampleCommand(
            "latency",
            "How long a message takes at a given rate, from publish to receipt on another connection, beside a plain byte relay in the broker's place.",
            "lightq bench latency -sz 512 -tr 1000 -tt 5s",
            "lightq bench latency --rate 10000 --against nats",
            "lightq bench latency --kind durable --output json")
        {
            size, rate, duration, stamp,
        };
        common.AddTo(command);
        command.SetAction((parsed, cancellationToken) =>
        {
            BenchSettings settings = common.Read(parsed) with
            {
                Sizes = [parsed.GetValue(size) ?? UsualSize],
                Rate = parsed.GetValue(rate) ?? UsualRate,
                Duration = parsed.GetValue(duration) ?? UsualDuration,
                StampActual = parsed.GetValue(stamp) == "actual",
            };
            var run = new BenchRun("latency", settings, parsed.GetValue(common.Output), parsed.GetValue(common.Report));
            return run.ExecuteAsync((session, console) => new LatencyBench(settings, session, console).RunAsync(cancellationToken), cancellationToken);
        });
        return command;
    }
}
