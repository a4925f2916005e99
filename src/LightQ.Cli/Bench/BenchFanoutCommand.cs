using System.CommandLine;
using LightQ.Bench;
using LightQ.Bench.Fanout;
using LightQ.Cli.Bench.Report;
using LightQ.Cli.Options;
using LightQ.Cli.Output;
using LightQ.Client;

namespace LightQ.Cli.Bench;

/// <summary><c>lightq bench fanout</c>.</summary>
internal static class BenchFanoutCommand
{
    private static readonly IReadOnlyList<string> Remarks =
    [
        "Latency is from when a message was due to be sent until a subscriber had it, on one clock; mean, percentiles "
            + "and loss are computed from the log.",
        "Every publish is acknowledged, and every delivery settled by its subscriber: the run fails unless settled = "
            + "published x subscribers.",
        "The document's broker had a machine of its own, its clients were on others; here broker and clients share "
            + "this machine's cores. It prints no percentiles.",
        "CPU is the broker's, in percent of one core; the document's is of its whole machine.",
    ];

    public static Command Create()
    {
        string host = Environment.MachineName;
        Option<int?> publishers = Number(
            "--publishers",
            $"Publishers, each with a connection of its own. Default {FanoutSettings.UsualPublishers}."
        );
        Option<int?> subscribers = Number(
            "--subscribers",
            $"Subscribers, each with a connection of its own. Default {FanoutSettings.UsualSubscribers}."
        );
        Option<double?> rate = ValueOptions.Number("--rate", 0.01);
        rate.Description = "Messages a second of each publisher. Default 1.";
        Option<int?> size = ValueOptions.Number("--size", FanoutBody.SmallestSize(host));
        size.Description = $"Bytes of a message. Default {FanoutSettings.UsualSize}.";
        Option<TimeSpan?> duration = ValueOptions.Duration("--duration");
        duration.Description =
            "How long is measured, after a warm-up of 3s at most; a step of a sweep 10s at most. Default 30s.";
        Option<int?> idle = ValueOptions.Number("--idle", 0);
        idle.Description =
            "Idle connections beside them. Default: as many as the descriptor limit allows a broker, 20,000 at most; "
            + "0 with --server.";
        Option<bool> synchronised = new("--synchronised")
        {
            Description = "All publishers send at the same moments, instead of each at its own, random one.",
        };
        Option<bool> sweep = new("--sweep")
        {
            Description =
                "Raise the rate step by step until the mean latency is above a second; still nothing may be lost.",
        };
        Option<string?> logDirectory = new("--log-dir")
        {
            Description =
                $"Where {host}_data_entries.log goes; of a sweep the last step's stays. Default: the current "
                + $"directory.",
            HelpName = "DIR",
        };
        Option<TopicKind> kind = ValueOptions.Choice("--kind", TopicKind.Transient, TopicKind.Durable);
        kind.Description = "Which topic. Default: transient.";
        Option<Durability> ack = ValueOptions.Choice("--ack", Durability.Memory, Durability.Written, Durability.Fsync);
        ack.Description = "The ack level. Default: memory for a transient, fsync for a durable topic.";
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
            "fanout",
            "How long a message takes from a few publishers to each of a thousand subscribers, acknowledged on both "
                + "legs, among idle connections. "
                + "Every message has a unique id (host, thread, sequence) and the time it was sent; every subscriber "
                + "notes id and latency of each, and gives a receipt. "
                + "The notes go to HOSTNAME_data_entries.log, a line each: HOST-THREAD-SEQUENCE SUBSCRIBER "
                + "MICROSECONDS. "
                + "Mean latency and loss rate are computed from that log and shown beside those of the document that "
                + "describes this scenario.",
            "lightq bench fanout",
            "lightq bench fanout --publishers 20 --subscribers 1000 --idle 0 --duration 1m --log-dir /tmp",
            "lightq bench fanout --sweep --output json"
        )
        {
            publishers,
            subscribers,
            rate,
            size,
            duration,
            idle,
            synchronised,
            sweep,
            logDirectory,
            kind,
            ack,
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
                    Kind = parsed.GetValue(kind) == TopicKind.Durable ? TopicKind.Durable : TopicKind.Transient,
                    Ack = parsed.GetValue(ack),
                    Server = broker.ReadGivenText(parsed),
                    DataDirectory = parsed.GetValue(data),
                };
                var fanout = new FanoutSettings
                {
                    Publishers = parsed.GetValue(publishers) ?? FanoutSettings.UsualPublishers,
                    Subscribers = parsed.GetValue(subscribers) ?? FanoutSettings.UsualSubscribers,
                    Rate = parsed.GetValue(rate) ?? 1,
                    Size = parsed.GetValue(size) ?? FanoutSettings.UsualSize,
                    Duration = parsed.GetValue(duration) ?? FanoutSettings.UsualDuration,
                    Idle = parsed.GetValue(idle),
                    Synchronised = parsed.GetValue(synchronised),
                    Sweep = parsed.GetValue(sweep),
                    LogDirectory = parsed.GetValue(logDirectory) ?? Directory.GetCurrentDirectory(),
                };
                var run = new BenchRun<FanoutResult>(
                    new FanoutView(),
                    settings,
                    parsed.GetValue(output),
                    parsed.GetValue(report)
                )
                {
                    Remarks = Remarks,
                };
                return run.ExecuteAsync(
                    async console =>
                    {
                        await using var bench = new FanoutBench(settings, fanout, console);
                        return await bench.RunAsync(cancellationToken);
                    },
                    cancellationToken
                );
            }
        );
        return command;
    }

    private static Option<int?> Number(string name, string description)
    {
        Option<int?> option = ValueOptions.Number(name, 1);
        option.Description = description;
        return option;
    }
}
