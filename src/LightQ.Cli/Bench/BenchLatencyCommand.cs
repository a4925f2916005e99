using System.CommandLine;
using LightQ.Bench;
using LightQ.Bench.Checks;
using LightQ.Bench.Latency;
using LightQ.Cli.Bench.Report;
using LightQ.Cli.Options;

namespace LightQ.Cli.Bench;

/// <summary><c>lightq bench latency</c>.</summary>
internal static class BenchLatencyCommand
{
    private const int UsualSize = 512,
        UsualRate = 1000;
    private const string WarmUpRemark =
        "Each run sends messages for half a second before it measures; they count in no figure, and wall times begin "
        + "after them.";
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
        Option<string> stamp = new("--stamp")
        {
            Description =
                "due: latency counts from when sending was due, so that a stall counts; actual: from when it was sent.",
            DefaultValueFactory = _ => "due",
        };
        stamp.AcceptOnlyFromAmong("due", "actual");
        Option<string?> consumeServer = new("--consume-server", "-sb")
        {
            Description = "Where the subscriber connects. Default: where the publisher does.",
            HelpName = "URL",
        };
        Option<string?> histogram = new("--histogram", "-hist")
        {
            Description =
                "Also write FILE.histogram, the percentile distribution for HdrHistogram's plotter, and FILE.raw, a "
                + "latency a line; both of the last run, in milliseconds.",
            HelpName = "FILE",
        };
        var tls = new BenchTlsOptions();
        var command = new ExampleCommand(
            "latency",
            "How long a message takes at a given rate, from publish to receipt on another connection, beside a plain "
                + "byte relay in the broker's place. "
                + "Prints the broker's last run in the layout of the reference document, then the medians of all runs.",
            "lightq bench latency -sz 512 -tr 1000 -tt 5s",
            "lightq bench latency -sa lightq://127.0.0.1 -sb lightq://127.0.0.1 -tr 1000 -tt 5s -sz 512 -hist latency "
                + "--pairs 1",
            "lightq bench latency --rate 10000 --against nats",
            "lightq bench latency --kind durable --output json",
            "lightq bench latency -secure",
            "lightq bench latency -sa lightq://broker.example -secure -tls_ca ca.crt -tls_cert me.crt -tls_key me.key"
        )
        {
            size,
            rate,
            duration,
            stamp,
            consumeServer,
            histogram,
        };
        tls.AddTo(command);
        common.AddTo(command);
        command.SetAction(
            (parsed, cancellationToken) =>
            {
                BenchSettings settings = tls.Read(parsed, common.Read(parsed)) with
                {
                    Sizes = [parsed.GetValue(size) ?? UsualSize],
                    Rate = parsed.GetValue(rate) ?? UsualRate,
                    Duration = parsed.GetValue(duration) ?? UsualDuration,
                    ConsumeServer = CommonOptions.WithLogin(parsed.GetValue(consumeServer)),
                    HistogramFile = parsed.GetValue(histogram),
                    StampActual = parsed.GetValue(stamp) == "actual",
                };
                var run = new BenchRun<LatencyResult>(
                    new LatencyView(),
                    settings,
                    parsed.GetValue(common.Output),
                    parsed.GetValue(common.Report)
                )
                {
                    Remarks = [WarmUpRemark],
                };
                return run.ExecuteAsync(
                    (session, console) =>
                    {
                        var bench = new LatencyBench(settings, session, console);
                        run.Lines = _ =>
                            bench.LastRun is { } last
                                ? LatencyLines.Of(settings.Sizes[^1], settings.Rate, settings.Duration, last)
                                : [];
                        return bench.RunAsync(cancellationToken);
                    },
                    cancellationToken
                );
            }
        );
        return command;
    }
}
