using System.CommandLine;
using LightQ.Bench;
using LightQ.Bench.Settle;
using LightQ.Cli.Bench.Report;
using LightQ.Cli.Options;
using LightQ.Cli.Output;
using LightQ.Client;

namespace LightQ.Cli.Bench;

/// <summary><c>lightq bench settle</c>.</summary>
internal static class BenchSettleCommand
{
    private const long UsualMessages = 2_000_000;
    private const int UsualSize = 100;

    public static Command Create()
    {
        Option<long?> messages = ValueOptions.Number("--messages", 1000L, "-n");
        messages.Description = $"Messages of a run. Default {UsualMessages}.";
        Option<int?> size = ValueOptions.Number("--size", 1);
        size.Description = $"Bytes of a message. Default {UsualSize}.";
        Option<int?> pairs = ValueOptions.Number("--pairs", 1);
        pairs.Description = $"How often each way and the yardstick run, in turns. Default {BenchSettings.UsualPairs}.";
        Option<string?> data = new("--data")
        {
            Description = "Where the broker keeps its data. Default: the temporary directory.",
            HelpName = "DIR",
        };
        Option<string?> report = new("--report") { Description = "Also write a page.", HelpName = "FILE.html" };
        Option<OutputFormat> output = CommonOptions.Output();
        var command = new ExampleCommand(
            "settle",
            "Messages a second that a member of a group reads from a durable topic and settles - batch by batch, one "
                + "by one, one by one out of order - beside a member whose messages the broker settles.",
            "lightq bench settle",
            "lightq bench settle --messages 500000 --size 1024 --pairs 3"
        )
        {
            messages,
            size,
            pairs,
            data,
            report,
            output,
        };
        command.SetAction(
            (parsed, cancellationToken) =>
            {
                var settings = new BenchSettings
                {
                    Kind = TopicKind.Durable,
                    Sizes = [parsed.GetValue(size) ?? UsualSize],
                    Pairs = parsed.GetValue(pairs) ?? BenchSettings.UsualPairs,
                    DataDirectory = parsed.GetValue(data),
                };
                var run = new BenchRun<SettleResult>(
                    new SettleView(),
                    settings,
                    parsed.GetValue(output),
                    parsed.GetValue(report)
                )
                {
                    Remarks = SettleBench.Remarks,
                };
                return run.ExecuteAsync(
                    console =>
                        new SettleBench(settings, parsed.GetValue(messages) ?? UsualMessages, console).RunAsync(
                            cancellationToken
                        ),
                    cancellationToken
                );
            }
        );
        return command;
    }
}
