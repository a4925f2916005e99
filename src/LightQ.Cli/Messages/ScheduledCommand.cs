using System.CommandLine;
using System.Globalization;
using LightQ.Cli.Options;
using LightQ.Cli.Output;
using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.Protocol;

namespace LightQ.Cli.Messages;

/// <summary><c>lightq scheduled</c>: delayed messages that wait to be due.</summary>
internal static class ScheduledCommand
{
    private const long DefaultCount = 100;

    public static Command Create() =>
        new ExampleCommand(
            "scheduled",
            "List and cancel delayed messages that wait to be due.",
            "lightq scheduled list reminders",
            "lightq scheduled cancel reminders --offset 17"
        )
        {
            List(),
            Cancel(),
        };

    private static BrokerCommand List()
    {
        Argument<TopicAddress> topic = CommonOptions.Address();
        Option<long?> count = ValueOptions.Number("--count", 1L, "-n");
        count.Description = $"Show at most this many messages. Default: {DefaultCount}.";
        var show = new ShowOptions();
        var command = new BrokerCommand(
            "list",
            "Show delayed messages that wait to be due, each with the partition and offset that cancel it. Within each "
                + "partition what is due first comes first.",
            "lightq scheduled list reminders",
            "lightq scheduled list reminders/3 --count 20 --format json"
        )
        {
            topic,
            count,
        };
        show.AddTo(command);
        command.Run(async call =>
        {
            long most = call.Get(count) ?? DefaultCount;
            StoredWriter writer = show.Writer(call);
            var console = new CommandConsole();
            IAsyncEnumerable<StoredMessage> waiting = call.Client.Messages.ListScheduledAsync(
                call.Required(topic).ToString(),
                show.MaxBodyBytes(call),
                call.Cancellation
            );
            await foreach (StoredMessage message in waiting)
            {
                if (writer.Written == most)
                {
                    console.Note("There are more: --count shows them.");
                    return;
                }
                writer.Write(message, []);
            }
            if (writer.Written == 0)
                console.Note("No message waits.");
        });
        return command;
    }

    private static BrokerCommand Cancel()
    {
        Argument<TopicAddress> topic = CommonOptions.Address();
        Option<long[]> offsets = ValueOptions.Offsets(
            "A message's offset, as its ack or lightq scheduled list shows it; may be given again."
        );
        offsets.Required = true;
        var command = new BrokerCommand(
            "cancel",
            "Cancel delayed messages: they are never delivered. TOPIC has a partition where the topic has several. "
                + "Ends with 1 when one of them did not wait any more.",
            "lightq scheduled cancel reminders --offset 17",
            "lightq scheduled cancel reminders/3 --offset 17 --offset 19"
        )
        {
            topic,
            offsets,
        };
        command.Run(async call =>
        {
            TopicAddress address = call.Required(topic);
            if (address.Partition is null)
                await RefuseSeveralAsync(call, address);
            MessagePosition[] positions =
            [
                .. call.Get(offsets)!.Select(o => new MessagePosition(address.Partition ?? 0, o)),
            ];
            IReadOnlyList<bool> cancelled = await call.Client.Messages.CancelScheduledAsync(
                address.Topic,
                positions,
                call.Cancellation
            );
            CancelledView[] views =
            [
                .. positions.Select((p, i) => new CancelledView(p.Partition, p.Offset, cancelled[i])),
            ];
            call.Answer(
                views,
                MessagesJson.Default.CancelledViewArray,
                string.Join(Environment.NewLine, views.Select(TextOf))
            );
            return views.All(static v => v.Cancelled) ? ExitCode.Ok : ExitCode.Failed;
        });
        return command;
    }

    /// <summary>An offset is a message of each partition: without one, another message would be cancelled.</summary>
    private static async Task RefuseSeveralAsync(BrokerCall call, TopicAddress address)
    {
        TopicInfo topic = await call.Client.Topics.GetAsync(address.Topic, call.Cancellation);
        if (topic.EndOffsets.Count > 1)
        {
            throw new CommandException(
                ExitCode.Usage,
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"{address.Topic} has {topic.EndOffsets.Count} partitions, each with offsets of its own: "
                        + $"name one, as in '{address.Topic}/0'."
                )
            );
        }
    }

    private static string TextOf(CancelledView view)
    {
        string outcome = view.Cancelled
            ? "cancelled"
            : "no delayed message waits: delivered, cancelled before, or none";
        return string.Create(CultureInfo.InvariantCulture, $"{view.Partition}/{view.Offset}: {outcome}");
    }
}
