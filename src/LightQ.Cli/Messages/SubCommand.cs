using System.CommandLine;
using LightQ.Cli.Options;
using LightQ.Cli.Output;
using LightQ.Client;
using LightQ.Protocol;

namespace LightQ.Cli.Messages;

/// <summary><c>lightq sub</c>: writes a topic's messages to standard output.</summary>
internal static class SubCommand
{
    // A user who reads page by page keeps delivered messages waiting for long. They are free as soon as the connection
    // ends.
    private static readonly TimeSpan LongestLock = TimeSpan.FromMilliseconds(ProtocolLimits.MaxLockMilliseconds);

    public static Command Create()
    {
        Argument<TopicAddress> topic = CommonOptions.Address();
        Option<string?> group = new("--group", "-g")
        {
            Description =
                "Share the messages with the other members of this group. On a durable topic a message is completed "
                + "once it is written; on a transient one, or beside members whose messages the broker settles, once "
                + "the broker has sent it.",
            HelpName = "NAME",
        };
        Option<StartPosition?> from = new("--from")
        {
            Description =
                "earliest, latest, committed (where a group left off), an offset, a time (2026-01-31T12:00:00Z) or an "
                + "age (15m). Default: latest; with a group: committed.",
            HelpName = "START",
            CustomParser = result =>
            {
                string text = result.Tokens[0].Value;
                bool ok = StartText.TryParse(text, DateTimeOffset.UtcNow, out StartPosition start);
                return ValueOptions.Parsed(
                    result,
                    ok,
                    start,
                    $"'{text}' is neither earliest, latest, committed, an offset, a time nor an age."
                );
            },
        };
        Option<long?> count = ValueOptions.Number("--count", 1L, "-n");
        count.Description = "Exit after this many messages.";
        Option<int?> maxInFlight = ValueOptions.Number("--max-in-flight", 1);
        maxInFlight.Description =
            "With a group on a durable topic: hold at most this many messages, so that other members have the rest. "
            + "Messages that are held when this ends are redelivered.";
        Option<TimeSpan?> idleExit = ValueOptions.Duration("--idle-exit");
        idleExit.Description = "Exit when no message came for this long, for example 3s.";
        Option<MessageFormat> format = ValueOptions.Choice(
            "--format",
            MessageFormat.Text,
            MessageFormat.Json,
            MessageFormat.Raw,
            MessageFormat.Bytes
        );
        format.Description =
            "text, the default; json: with offset (and partition, where there are several), time, "
            + "message id, key and headers; raw: the body and a newline, the inverse of pub --file; "
            + "bytes: the body alone.";
        Option<MessageFilter?> filter = new("--filter")
        {
            Description =
                "Only messages whose headers are so: NAME = 'VALUE', !=, ^= (begins with), exists(NAME), and, or, "
                + "not, ( ).",
            HelpName = "EXPR",
            CustomParser = result =>
            {
                try
                {
                    return MessageFilter.Parse(result.Tokens[0].Value);
                }
                catch (LightQException e)
                {
                    return ValueOptions.Parsed<MessageFilter?>(result, false, null, e.Message);
                }
            },
        };
        Option<SlowPolicy> slowPolicy = CommonOptions.SlowPolicy();
        slowPolicy.Description =
            $"What happens when this subscriber is slower than a transient topic: {CommonOptions.SlowPolicyText} "
            + $"Default: what the topic says.";
        Option<TimeSpan?> slowTimeout = CommonOptions.SlowTimeout();
        Option<TimeSpan?> lockDuration = CommonOptions.LockDuration();
        Option<OutputFormat> output = CommonOptions.Output();
        var broker = new BrokerChoice();
        var command = new ExampleCommand(
            "sub",
            "Write a topic's messages to standard output, until Ctrl-C.",
            "lightq sub orders --from earliest --format json",
            "lightq sub orders --from 15m --idle-exit 3s",
            "lightq sub orders --filter \"type = 'order' and region ^= 'eu'\"",
            "lightq sub clicks/3 --from 1000",
            "lightq sub jobs --group workers --max-in-flight 1",
            "lightq sub orders --from earliest --count 1000 --format raw > lines.txt"
        )
        {
            topic,
            group,
            from,
            maxInFlight,
            lockDuration,
            count,
            idleExit,
            filter,
            slowPolicy,
            slowTimeout,
            format,
            output,
        };
        broker.AddTo(command);
        command.Validators.Add(result =>
        {
            if (result.GetResult(group) is null && result.GetResult(lockDuration) is not null)
                result.AddError("--lock needs a --group: it is how long a member may hold a message.");
            if (result.GetValue(maxInFlight) is null)
                return;
            if (result.GetValue(group) is null)
            {
                result.AddError("--max-in-flight needs a --group: it is how many messages a member holds at most.");
            }
            else if (result.GetValue(filter) is not null)
            {
                result.AddError(
                    "--max-in-flight does not go with --filter: what the filter passes over would count as done."
                );
            }
        });
        command.SetAction(
            (parsed, cancellationToken) =>
            {
                bool isMember = parsed.GetValue(group) is not null;
                int? held = parsed.GetValue(maxInFlight);
                TimeSpan? locked = parsed.GetValue(lockDuration);
                TopicAddress address = parsed.GetRequiredValue(topic);
                var job = new SubscribeJob
                {
                    Client = broker.Read(parsed),
                    Topic = address.Topic,
                    Options = new ConsumeOptions
                    {
                        Group = parsed.GetValue(group),
                        Partition = address.Partition,
                        Start = parsed.GetValue(from) ?? default,
                        Filter = parsed.GetValue(filter),
                        MaxInFlight = held ?? 0,
                        LockDuration = locked ?? (isMember && held is null ? LongestLock : null),
                        SettleMode = isMember ? SettleMode.Explicit : SettleMode.Automatic,
                        SlowPolicy = parsed.GetValue(slowPolicy),
                        SlowTimeout = parsed.GetValue(slowTimeout),
                    },
                    MaySettleAutomatically = isMember && held is null && locked is null,
                    Count = parsed.GetValue(count) ?? long.MaxValue,
                    IdleExit = parsed.GetValue(idleExit),
                    Format =
                        parsed.GetValue(output) == OutputFormat.Json ? MessageFormat.Json : parsed.GetValue(format),
                };
                return job.RunAsync(cancellationToken);
            }
        );
        return command;
    }
}
