using System.CommandLine;
using System.Globalization;
using LightQ.Cli.Options;
using LightQ.Cli.Output;
using LightQ.Client.Administration;
using LightQ.Protocol;

namespace LightQ.Cli.Stats;

/// <summary><c>lightq stats</c>: the figures of a topic or of the broker.</summary>
internal static class StatsCommand
{
    private static readonly string[] WatchColumns =
    [
        "received",
        "sent",
        "received/s",
        "sent/s",
        "publishers",
        "subscribers",
        "queue",
        "end",
        "durable",
    ];

    public static Command Create()
    {
        Argument<TopicAddress?> topic = new("TOPIC")
        {
            Description = "The topic's name; NAME/3 is its partition 3. Without it: the broker.",
            Arity = ArgumentArity.ZeroOrOne,
            CustomParser = result =>
                ValueOptions.Parsed<TopicAddress?>(
                    result,
                    TopicAddress.TryParse(result.Tokens[0].Value, out TopicAddress address, out string problem),
                    address,
                    problem
                ),
        };
        Option<bool> watch = new("--watch") { Description = "Again and again, until Ctrl-C; needs a topic." };
        Option<TimeSpan?> interval = ValueOptions.Duration("--interval");
        interval.Description = "Between two lines of --watch, 100ms to 1h. Default 1s.";
        var command = new BrokerCommand(
            "stats",
            "Show the figures of a topic or of the broker.",
            "lightq stats",
            "lightq stats orders",
            "lightq stats clicks/3",
            "lightq stats orders --watch --interval 500ms"
        )
        {
            topic,
            watch,
            interval,
        };
        command.Validators.Add(result =>
        {
            if (result.GetValue(watch) && result.GetResult(topic) is not { Tokens.Count: > 0 })
                result.AddError("--watch needs a TOPIC.");
        });
        command.Run(async call =>
        {
            if (call.Get(topic)?.ToString() is not { } name)
            {
                var broker = BrokerStatsView.From(await call.Client.Stats.GetBrokerAsync(call.Cancellation));
                call.Answer(broker, StatsJson.Default.BrokerStatsView, static v => CommandConsole.Rows(v.Rows()));
            }
            else if (call.Get(watch))
            {
                await WatchAsync(call, name, call.Get(interval));
            }
            else
            {
                var view = TopicStatsView.From(await call.Client.Stats.GetTopicAsync(name, call.Cancellation));
                call.Answer(view, StatsJson.Default.TopicStatsView, static v => CommandConsole.Rows(v.Rows()));
            }
        });
        return command;
    }

    private static async Task WatchAsync(BrokerCall call, string topic, TimeSpan? interval)
    {
        using var ended = CancellationTokenSource.CreateLinkedTokenSource(call.Cancellation, StandardOutput.Closed);
        if (!call.IsJson)
            Console.Out.WriteLine(string.Concat(WatchColumns.Select(c => $"{c, 13}")));
        try
        {
            await foreach (TopicStats stats in call.Client.Stats.WatchAsync(topic, interval, ended.Token))
            {
                TopicStatsView view = TopicStatsView.From(stats);
                call.Answer(view, StatsJson.Default.TopicStatsView, WatchLine(view));
            }
        }
        catch (OperationCanceledException) when (StandardOutput.Closed.IsCancellationRequested)
        {
            throw new OutputClosedException();
        }
        catch (OperationCanceledException) when (call.Cancellation.IsCancellationRequested)
        {
            // Ctrl-C is how a watch ends.
        }
    }

    private static string WatchLine(TopicStatsView view)
    {
        double[] values =
        [
            view.MessagesReceived,
            view.MessagesSent,
            view.ReceiveRate,
            view.SendRate,
            view.PublishersCount,
            view.SubscribersCount,
            view.QueueSize,
            view.EndOffset,
            view.DurableOffset,
        ];
        return string.Concat(values.Select(v => string.Create(CultureInfo.InvariantCulture, $"{v, 13:N0}")));
    }
}
