using System.CommandLine;
using LightQ.Bench;
using LightQ.Bench.Scale;
using LightQ.Cli.Bench.Report;
using LightQ.Cli.Options;
using LightQ.Cli.Output;

namespace LightQ.Cli.Bench;

/// <summary><c>lightq bench scale</c>.</summary>
internal static class BenchScaleCommand
{
    private static readonly IReadOnlyList<string> Remarks =
    [
        "For each dimension two brokers that differ in nothing else are measured in turns; the ratio is that of the "
            + "medians.",
        "KiB each: what the broker's resident memory grew by for every idle topic or connection. Idle CPU: of one "
            + "core, the second broker's, before the first message. At rest: the first broker, new.",
        "Publishers and subscribers are this process; deliveries per broker CPU second leave out what it uses itself.",
    ];

    public static Command Create()
    {
        Option<ScaleDimension[]> dimensions = Dimensions();
        Option<int?> topics = Number(
            "--topics",
            $"Durable topics, of which as many are busy as there are with few. Default {ScaleSettings.UsualTopics}."
        );
        Option<int?> busy = Number("--busy", $"Busy topics. Default {ScaleSettings.UsualBusyTopics}.");
        Option<long?> backlog = ValueOptions.Size("--backlog");
        backlog.Description = "What the busy topic holds already, instead of 1MiB. Default 1GiB.";
        Option<int?> subscriptions = Number(
            "--subscriptions",
            $"Subscriptions to one topic, each on a connection of its own, instead of 1. Default "
                + $"{ScaleSettings.UsualSubscriptions}."
        );
        Option<int?> connections = Number(
            "--connections",
            $"Idle connections, instead of none. Default {ScaleSettings.UsualConnections}."
        );
        Option<long?> messages = ValueOptions.Number("--messages", 1L, "-n");
        messages.Description =
            $"Deliveries of a run, over all topics and subscriptions. Default {ScaleSettings.UsualMessages}.";
        Option<int?> size = Number("--size", $"Bytes of a message. Default {ScaleSettings.UsualSize}.");
        Option<TimeSpan?> rest = ValueOptions.Duration("--rest");
        rest.Description = "How long the brokers are watched at rest, before the first message. Default 10s.";
        Option<int?> pairs = Number(
            "--pairs",
            $"Runs of each broker, after a warm-up. Default {BenchSettings.UsualPairs}."
        );
        Option<string?> data = new("--data")
        {
            Description = "Where the brokers keep their data. Default: the temporary directory.",
            HelpName = "DIR",
        };
        Option<string?> report = new("--report")
        {
            Description = "Also write a page with plots.",
            HelpName = "FILE.html",
        };
        Option<OutputFormat> output = CommonOptions.Output();
        var command = new ExampleCommand(
            "scale",
            "What the same work costs a broker that has more around it: throughput of a hundred busy durable topics "
                + "among ten thousand, of one durable topic behind a backlog and of a transient one "
                + "beside idle connections; deliveries per second of the broker's CPU time to a thousand "
                + "subscriptions. Says, too, what memory an idle topic and an idle connection take.",
            "lightq bench scale",
            "lightq bench scale --dimension backlog --backlog 10GiB --data /var/tmp",
            "lightq bench scale --dimension topics,connections --topics 1000 --connections 1000 --pairs 1"
        )
        {
            dimensions,
            topics,
            busy,
            backlog,
            subscriptions,
            connections,
            messages,
            size,
            rest,
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
                    Pairs = parsed.GetValue(pairs) ?? BenchSettings.UsualPairs,
                    DataDirectory = parsed.GetValue(data),
                };
                var scale = new ScaleSettings
                {
                    Dimensions = parsed.GetValue(dimensions) is { Length: > 0 } given
                        ? given
                        : Enum.GetValues<ScaleDimension>(),
                    Topics = parsed.GetValue(topics) ?? ScaleSettings.UsualTopics,
                    BusyTopics = parsed.GetValue(busy) ?? ScaleSettings.UsualBusyTopics,
                    BacklogBytes = parsed.GetValue(backlog) ?? ScaleSettings.UsualBacklogBytes,
                    Subscriptions = parsed.GetValue(subscriptions) ?? ScaleSettings.UsualSubscriptions,
                    Connections = parsed.GetValue(connections) ?? ScaleSettings.UsualConnections,
                    Messages = parsed.GetValue(messages) ?? ScaleSettings.UsualMessages,
                    Rest = parsed.GetValue(rest) ?? ScaleSettings.UsualRest,
                    Size = parsed.GetValue(size) ?? ScaleSettings.UsualSize,
                };
                foreach (ScaleDimension dimension in scale.Dimensions)
                {
                    if (scale.RangeOf(dimension) is var (few, many) && many <= few)
                    {
                        throw new CommandException(
                            ExitCode.Usage,
                            $"--dimension {dimension.Word()}: {many} is not more than {few}."
                        );
                    }
                }
                var run = new BenchRun<ScaleResult>(
                    new ScaleView(),
                    settings,
                    parsed.GetValue(output),
                    parsed.GetValue(report)
                )
                {
                    Remarks = Remarks,
                };
                return run.ExecuteAsync(
                    console => new ScaleBench(settings, scale, console).RunAsync(cancellationToken),
                    cancellationToken
                );
            }
        );
        return command;
    }

    private static Option<ScaleDimension[]> Dimensions()
    {
        string[] words = [.. Enum.GetValues<ScaleDimension>().Select(d => d.Word())];
        return new Option<ScaleDimension[]>("--dimension")
        {
            Description = "What grows, several with commas. Default: all.",
            HelpName = string.Join('|', words),
            CustomParser = result =>
            {
                var dimensions = new List<ScaleDimension>();
                foreach (string word in result.Tokens[0].Value.Split(','))
                {
                    int index = Array.IndexOf(words, word);
                    dimensions.Add(
                        ValueOptions.Parsed(
                            result,
                            index >= 0,
                            (ScaleDimension)index,
                            $"'{word}' is not one of {string.Join(", ", words)}."
                        )
                    );
                }
                return [.. dimensions.Distinct()];
            },
        };
    }

    private static Option<int?> Number(string name, string description)
    {
        Option<int?> option = ValueOptions.Number(name, 1);
        option.Description = description;
        return option;
    }
}
