using System.CommandLine;
using System.Text.Json;
using LightQ.Cli.Bench.Cluster;
using LightQ.Cli.Options;
using LightQ.Cli.Output;

namespace LightQ.Cli.Bench;

/// <summary><c>lightq bench cluster</c>.</summary>
internal static class BenchClusterCommand
{
    private const int LargestBatch = 1024 * 1024,
        SmallestBatch = 2048;

    public static Command Create()
    {
        Option<string?> engine = new("--engine")
        {
            Description =
                "Measure these nats-servers, such as nats://n1:4222,nats://n2:4222, instead of starting three.",
            HelpName = "URLS",
        };
        var broker = new BrokerChoice(
            new Option<string?>("--server")
            {
                Description =
                    "Measure this broker instead of starting one. Needs --engine: the servers of its cluster.",
                HelpName = "URL",
            }
        );
        Option<TimeSpan?> time = ValueOptions.Duration("--for");
        time.Description = "How long each of the nine parts of a run lasts. Default 4s.";
        Option<int?> partitions = ValueOptions.NumberWithin("--partitions", 1, 64);
        partitions.Description =
            $"Partitions of the topic, and streams of the engine. Default {ClusterBenchSettings.UsualPartitions}.";
        Option<long?> batch = ValueOptions.Size("--batch");
        batch.Description = "Size of a batch, 2KiB to 1MiB. Default 64KiB.";
        Option<int?> inFlight = ValueOptions.NumberWithin("--in-flight", 1, 10_000);
        inFlight.Description =
            $"Single messages under way for each partition. Default {ClusterBenchSettings.UsualInFlight}.";
        Option<int?> pairs = ValueOptions.NumberWithin("--pairs", 1, 100);
        pairs.Description = "How often everything is measured; the tables have medians. Default 1.";
        Option<bool> sync = new("--sync-always")
        {
            Description = "The servers that are started sync before they acknowledge: nats-server 2.10 or later.",
        };
        Option<string?> data = new("--data")
        {
            Description =
                "Where servers and broker that are started keep their data. Default: the temporary directory.",
            HelpName = "DIR",
        };
        Option<OutputFormat> output = CommonOptions.Output();
        var command = new ExampleCommand(
            "cluster",
            "What topics with replicas make of the servers they are on: batches, latency and single messages through a "
                + "broker, beside appends to the replicated log without one.",
            "lightq bench cluster",
            "lightq bench cluster --for 2s --partitions 1 --batch 16KiB --output json",
            "lightq bench cluster --sync-always --data /var/tmp",
            "lightq bench cluster --engine nats://n1:4222,nats://n2:4222,nats://n3:4222"
        )
        {
            engine,
            time,
            partitions,
            batch,
            inFlight,
            pairs,
            sync,
            data,
            output,
        };
        broker.AddTo(command);
        command.SetAction(
            async (parsed, cancellationToken) =>
            {
                var settings = new ClusterBenchSettings
                {
                    Engine = parsed.GetValue(engine),
                    Server = broker.ReadGivenText(parsed),
                    Folder = parsed.GetValue(data),
                    SyncAlways = parsed.GetValue(sync),
                    Partitions = parsed.GetValue(partitions) ?? ClusterBenchSettings.UsualPartitions,
                    BatchBytes = BatchBytes(parsed.GetValue(batch)),
                    InFlight = parsed.GetValue(inFlight) ?? ClusterBenchSettings.UsualInFlight,
                    Time = parsed.GetValue(time) ?? ClusterBenchSettings.UsualTime,
                    Pairs = parsed.GetValue(pairs) ?? ClusterBenchSettings.UsualPairs,
                };
                if (settings is { Server: not null, Engine: null })
                    throw new CommandException(ExitCode.Usage, "--server needs --engine: the servers of its cluster.");
                if (settings is { SyncAlways: true, Engine: not null })
                    throw new CommandException(ExitCode.Usage, "--sync-always is for servers that are started here.");
                var console = new CommandConsole();
                ClusterReport report;
                try
                {
                    report = await new ClusterBench(settings, console).RunAsync(cancellationToken);
                }
                finally
                {
                    console.EndProgress();
                }
                if (parsed.GetValue(output) == OutputFormat.Json)
                    CommandConsole.Line(JsonSerializer.Serialize(report, ClusterJson.Default.ClusterReport));
                else
                    ClusterTables.Write(report, console.Tables);
                return ExitCode.Ok;
            }
        );
        return command;
    }

    private static int BatchBytes(long? given) =>
        given switch
        {
            null => ClusterBenchSettings.UsualBatchBytes,
            >= SmallestBatch and <= LargestBatch => (int)given.Value,
            _ => throw new CommandException(ExitCode.Usage, $"--batch: {given} is not a size from 2KiB to 1MiB."),
        };
}
