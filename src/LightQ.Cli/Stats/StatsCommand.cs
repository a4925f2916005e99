using System.CommandLine;
using System.Globalization;
using System.Text.Json;
using LightQ.Cli.Options;
using LightQ.Cli.Output;
using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.Protocol;
using Spectre.Console;

namespace LightQ.Cli.Stats;

/// <summary><c>lightq stats</c>: the figures of a topic or of the broker.</summary>
internal static class StatsCommand
{
    private static readonly string[] WatchColumns = ["received", "sent", "received/s", "sent/s", "publishers", "subscribers", "queue", "end", "durable"];

    public static Command Create()
    {
        Argument<TopicAddress?> topic = new("TOPIC")
        {
            Description = "The topic's name; NAME/3 is its partition 3. Without it: the broker.",
            Arity = ArgumentArity.ZeroOrOne,
            CustomParser = result => ValueOptions.Parsed<TopicAddress?>(result, TopicAddress.TryParse(result.Tokens[0].Value, out TopicAddress address, out string problem), address, problem),
        };
        Option<bool> watch = new("--watch") { Description = "Again and again, until Ctrl-C; needs a topic." };
        Option<TimeSpan?> interval = ValueOptions.Duration("--interval");
        interval.Description = "Between two lines of --watch, 100ms to 1h. Default 1s.";
        Option<string?> server = CommonOptions.Server();
        Option<OutputFormat> output = CommonOptions.Output();
        var command = new ExampleCommand(
            "stats", "Show the figures of a topic or of the broker.", "lightq stats", "lightq stats orders", "lightq stats clicks/3", "lightq stats orders --watch --interval 500ms")
        {
            topic, watch, interval, server, output,
        };
        command.Validators.Add(result =>
        {
            if (result.GetValue(watch) && result.GetResult(topic) is not { Tokens.Count: > 0 })
                result.AddError("--watch needs a TOPIC.");
        });
        command.SetAction(async (parsed, cancellationToken) =>
        {
            await using var client = new LightQClient(CommonOptions.ClientOptions(parsed.GetValue(server)));
            bool json = parsed.GetValue(output) == OutputFormat.Json;
            if (parsed.GetValue(topic)?.ToString() is not { } name)
                WriteBroker(BrokerStatsView.From(await client.Stats.GetBrokerAsync(cancellationToken)), json);
            else if (parsed.GetValue(watch))
                await WatchAsync(client, name, parsed.GetValue(interval), json, cancellationToken);
            else
                WriteTopic(TopicStatsView.From(await client.Stats.GetTopicAsync(name, cancellationToken)), json);
            return ExitCode.Ok;
        });
        return command;
    }

    private static async Task WatchAsync(LightQClient client, string topic, TimeSpan? interval, bool json, CancellationToken cancellationToken)
    {
        using var ended = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, StandardOutput.Closed);
        if (!json)
            Console.Out.WriteLine(string.Concat(WatchColumns.Select(c => $"{c,13}")));
        try
        {
            await foreach (TopicStats stats in client.Stats.WatchAsync(topic, interval, ended.Token))
            {
                TopicStatsView view = TopicStatsView.From(stats);
                Console.Out.WriteLine(json ? JsonSerializer.Serialize(view, StatsJson.Default.TopicStatsView) : WatchLine(view));
            }
        }
        catch (OperationCanceledException) when (StandardOutput.Closed.IsCancellationRequested)
        {
            throw new OutputClosedException();
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
        {
            // Ctrl-C is how a watch ends.
        }
    }

    private static string WatchLine(TopicStatsView view)
    {
        double[] values =
        [
            view.MessagesReceived, view.MessagesSent, view.ReceiveRate, view.SendRate, view.PublishersCount, view.SubscribersCount,
            view.QueueSize, view.EndOffset, view.DurableOffset,
        ];
        return string.Concat(values.Select(v => string.Create(CultureInfo.InvariantCulture, $"{v,13:N0}")));
    }

    private static void WriteTopic(TopicStatsView view, bool json)
    {
        if (json)
            Console.Out.WriteLine(JsonSerializer.Serialize(view, StatsJson.Default.TopicStatsView));
        else
            WriteRows(view.Rows());
    }

    private static void WriteBroker(BrokerStatsView view, bool json)
    {
        if (json)
            Console.Out.WriteLine(JsonSerializer.Serialize(view, StatsJson.Default.BrokerStatsView));
        else
            WriteRows(view.Rows());
    }

    private static void WriteRows(IEnumerable<(string Name, string Value)> rows)
    {
        Table table = CommandConsole.Table("", "").HideHeaders();
        foreach ((string name, string value) in rows)
            table.AddRow(Markup.Escape(name), Markup.Escape(value));
        new CommandConsole().Tables.Write(table);
    }
}
