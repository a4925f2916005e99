using System.CommandLine;
using System.Globalization;
using LightQ.Cli.Options;
using LightQ.Cli.Output;
using LightQ.Client;
using LightQ.Client.Administration;
using Spectre.Console;

namespace LightQ.Cli.Topics;

/// <summary><c>lightq topic list</c>: all topics, how much goes through them, and what waits.</summary>
internal static class TopicListCommand
{
    private static readonly TimeSpan DefaultInterval = TimeSpan.FromSeconds(1),
        LongestInterval = TimeSpan.FromHours(1);

    public static Command Create()
    {
        Option<TimeSpan?> interval = ValueOptions.Duration("--interval", orNone: true);
        interval.Description =
            "How long the rates are measured, up to 1h; none shows none and answers at once. Default 1s.";
        var command = new BrokerCommand(
            "list",
            "List all topics with their rates, the lag of the group that is furthest behind, and their dead letters.",
            "lightq topic list",
            "lightq topic list --interval none --output json"
        )
        {
            interval,
        };
        command.Validators.Add(result =>
        {
            if (result.GetValue(interval) > LongestInterval)
                result.AddError("--interval is at most 1h.");
        });
        command.Run(async call =>
        {
            TopicView[] topics = await ReadAsync(call.Client, call.Get(interval) ?? DefaultInterval, call.Cancellation);
            call.Answer(topics, TopicsJson.Default.TopicViewArray, Write);
        });
        return command;
    }

    private static async Task<TopicView[]> ReadAsync(
        LightQClient client,
        TimeSpan interval,
        CancellationToken cancellationToken
    )
    {
        Dictionary<string, TopicStats> before = [];
        if (interval > TimeSpan.Zero)
        {
            before = await client
                .Stats.ListTopicsAsync(cancellationToken)
                .ToDictionaryAsync(s => s.Topic, cancellationToken: cancellationToken);
            if (before.Count != 0)
                await Task.Delay(interval, cancellationToken);
        }
        Dictionary<string, TopicStats> now = await client
            .Stats.ListTopicsAsync(cancellationToken)
            .ToDictionaryAsync(s => s.Topic, cancellationToken: cancellationToken);
        var topics = new List<TopicView>();
        await foreach (TopicInfo info in client.Topics.ListAsync(cancellationToken))
        {
            topics.Add(
                With(TopicView.From(info), before.GetValueOrDefault(info.Name), now.GetValueOrDefault(info.Name))
            );
        }

        return [.. topics];
    }

    private static TopicView With(TopicView topic, TopicStats? before, TopicStats? now)
    {
        if (now is null)
            return topic; // Created this very moment.
        // A topic that was created again meanwhile counts from zero.
        double seconds =
            before is null || before.MessagesReceived > now.MessagesReceived
                ? 0
                : (now.Time - before.Time).TotalSeconds;
        return topic with
        {
            ReceiveRate = seconds > 0 ? (now.MessagesReceived - before!.MessagesReceived) / seconds : null,
            SendRate = seconds > 0 ? Math.Max(0, now.MessagesSent - before!.MessagesSent) / seconds : null,
            WorstGroup = now.WorstGroup.Length == 0 ? null : now.WorstGroup,
            WorstGroupLag = now.WorstGroupLag,
            DeadLetters = now.DeadLetters,
        };
    }

    private static void Write(TopicView[] topics)
    {
        bool areReplicated = topics.Any(t => t.Replicas is not null);
        Table table = CommandConsole.Table([
            "topic",
            "kind",
            "partitions",
            .. areReplicated ? ["replicas"] : Array.Empty<string>(),
            "ack",
            "messages",
            "in/s",
            "out/s",
            "lag",
            "dead letters",
            "state",
        ]);
        foreach (TopicView topic in topics)
        {
            table.AddRow([
                Markup.Escape(topic.Name),
                topic.Kind,
                Number(topic.Partitions),
                .. areReplicated ? [Number(topic.Replicas)] : Array.Empty<string>(),
                topic.AckLevel,
                Number(topic.EndOffsets.Sum() - topic.StartOffsets.Sum()),
                Number(topic.ReceiveRate),
                Number(topic.SendRate),
                Markup.Escape(
                    topic.WorstGroup is null
                        ? Number(topic.WorstGroupLag)
                        : $"{Number(topic.WorstGroupLag)} ({topic.WorstGroup})"
                ),
                Number(topic.DeadLetters),
                Markup.Escape(topic.Failure ?? "ok"),
            ]);
        }
        new CommandConsole().Tables.Write(table);
    }

    private static string Number(double? value) =>
        value is { } known ? known.ToString("N0", CultureInfo.InvariantCulture) : "-";
}
