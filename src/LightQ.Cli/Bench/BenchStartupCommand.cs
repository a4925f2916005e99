using System.CommandLine;
using LightQ.Bench;
using LightQ.Bench.Startup;
using LightQ.Cli.Bench.Report;
using LightQ.Cli.Options;
using LightQ.Cli.Output;
using LightQ.Client;

namespace LightQ.Cli.Bench;

/// <summary><c>lightq bench startup</c>.</summary>
internal static class BenchStartupCommand
{
    private const int UsualTopics = 100;
    private const long UsualBacklog = 1L << 30;

    public static Command Create()
    {
        Option<int?> topics = ValueOptions.Number("--topics", 1);
        topics.Description = $"How many durable topics. Default {UsualTopics}.";
        Option<long?> backlog = ValueOptions.Size("--backlog");
        backlog.Description = "What they hold together. Default 1GiB.";
        Option<int?> pairs = ValueOptions.Number("--pairs", 1);
        pairs.Description =
            $"How often it is killed and started, each time beside a start on an empty directory. Default "
            + $"{BenchSettings.UsualPairs}.";
        Option<string?> data = new("--data")
        {
            Description = "Where the data is kept meanwhile. Default: the temporary directory.",
            HelpName = "DIR",
        };
        Option<string?> report = new("--report") { Description = "Also write a page.", HelpName = "FILE.html" };
        Option<OutputFormat> output = CommonOptions.Output();
        var command = new ExampleCommand(
            "startup",
            "How long a broker takes to be ready again after kill -9 under load, and what memory it needs, beside a "
                + "start on an empty directory.",
            "lightq bench startup",
            "lightq bench startup --topics 1000 --backlog 10GiB --data /var/tmp"
        )
        {
            topics,
            backlog,
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
                    Pairs = parsed.GetValue(pairs) ?? BenchSettings.UsualPairs,
                    DataDirectory = parsed.GetValue(data),
                };
                var run = new BenchRun<StartupResult>(
                    new StartupView(),
                    settings,
                    parsed.GetValue(output),
                    parsed.GetValue(report)
                );
                return run.ExecuteAsync(
                    console =>
                        new StartupBench(
                            settings,
                            parsed.GetValue(topics) ?? UsualTopics,
                            parsed.GetValue(backlog) ?? UsualBacklog,
                            console
                        ).RunAsync(cancellationToken),
                    cancellationToken
                );
            }
        );
        return command;
    }
}
