using System.CommandLine;
using LightQ.Cli.Options;

namespace LightQ.Cli.Bench;

/// <summary><c>lightq bench</c>: measures.</summary>
internal static class BenchCommand
{
    public static Command Create() =>
        new ExampleCommand(
            "bench",
            "Measure this machine's broker beside a yardstick in the same run. Fails when a message is lost, "
                + "repeated, reordered or damaged.",
            "lightq bench throughput",
            "lightq bench latency --size 512 --rate 1000"
        )
        {
            BenchThroughputCommand.Create(),
            BenchLatencyCommand.Create(),
            BenchReferenceCommand.Create(),
            BenchFanoutCommand.Create(),
            BenchStartupCommand.Create(),
            BenchInProcessCommand.Create(),
            BenchScaleCommand.Create(),
            BenchSettleCommand.Create(),
            BenchClusterCommand.Create(),
        };
}
