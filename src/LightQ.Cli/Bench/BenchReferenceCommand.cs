using System.CommandLine;
using LightQ.Bench;
using LightQ.Bench.Reference;
using LightQ.Cli.Bench.Report;
using LightQ.Cli.Options;
using LightQ.Cli.Output;
using LightQ.Client;

namespace LightQ.Cli.Bench;

/// <summary><c>lightq bench reference</c>.</summary>
internal static class BenchReferenceCommand
{
    public static Command Create()
    {
        Option<int[]> sizes = ValueOptions.Sizes(
            s => PublishedFigure.Sizes.Contains(s),
            $"one of {string.Join(", ", PublishedFigure.Sizes)}, which the documents have"
        );
        sizes.Description =
            $"Bytes of a message, several with commas. Default: {string.Join(',', PublishedFigure.Sizes)}.";
        Option<long?> messages = ValueOptions.Number("--messages", 1L, "-n");
        messages.Description =
            $"Messages of a run. Default {PublishedFigure.Messages / 1_000_000} million, as in the documents.";
        Option<TopicKind> kind = ValueOptions.Choice("--kind", TopicKind.Transient, TopicKind.Durable);
        kind.Description = "Only these topics. Default: both kinds.";
        Option<int?> runs = ValueOptions.Number("--runs", 1);
        runs.Description = "How often each cell is measured; the table gives medians. Default 1.";
        var broker = new BrokerChoice(
            new Option<string?>("--server")
            {
                Description = "Measure this broker instead of starting one.",
                HelpName = "URL",
            }
        );
        Option<string?> data = new("--data")
        {
            Description = "Where the broker that is started keeps its data. Default: the temporary directory.",
            HelpName = "DIR",
        };
        Option<string?> report = new("--report")
        {
            Description = "Also write a page with plots.",
            HelpName = "FILE.html",
        };
        Option<OutputFormat> output = CommonOptions.Output();
        var command = new ExampleCommand(
            "reference",
            "The grid of the reference documents, 100 to 1024 B through transient and durable topics, from a "
                + "producer's process through a broker's to a consumer's, "
                + "every message checked, beside the figures they have published.",
            "lightq bench reference",
            "lightq bench reference --messages 1000000 --runs 3 --report reference.html",
            "lightq bench reference --kind durable --data /var/tmp"
        )
        {
            sizes,
            messages,
            kind,
            runs,
            data,
            report,
            output,
        };
        broker.AddTo(command);
        command.SetAction(
            (parsed, cancellationToken) =>
            {
                var settings = new BenchSettings
                {
                    Sizes = parsed.GetValue(sizes) is { Length: > 0 } given ? given : PublishedFigure.Sizes,
                    Messages = parsed.GetValue(messages),
                    Pairs = parsed.GetValue(runs) ?? 1,
                    Server = broker.ReadGivenText(parsed),
                    DataDirectory = parsed.GetValue(data),
                    MeasureLatency = true,
                };
                TopicKind[] kinds =
                    parsed.GetValue(kind) is var one && one != default
                        ? [one]
                        : [TopicKind.Transient, TopicKind.Durable];
                var run = new BenchRun<ReferenceResult>(
                    new ReferenceView(),
                    settings,
                    parsed.GetValue(output),
                    parsed.GetValue(report)
                )
                {
                    Remarks = ReferenceBench.Remarks,
                };
                return run.ExecuteAsync(
                    (session, console) =>
                        new ReferenceBench(settings, kinds, session, console).RunAsync(cancellationToken),
                    cancellationToken
                );
            }
        );
        return command;
    }
}
