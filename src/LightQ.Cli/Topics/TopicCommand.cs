using System.CommandLine;
using System.Globalization;
using LightQ.Cli.Options;
using LightQ.Cli.Output;
using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.Protocol;

namespace LightQ.Cli.Topics;

/// <summary><c>lightq topic</c>: creates, shows and deletes topics.</summary>
internal static class TopicCommand
{
    public static Command Create() =>
        new ExampleCommand(
            "topic",
            "Create, show and delete topics.",
            "lightq topic create orders",
            "lightq topic list",
            "lightq topic show orders --output json"
        )
        {
            TopicCreateCommand.Create(),
            Ensure(),
            TopicListCommand.Create(),
            Show(),
            Delete(),
            Truncate(),
            TopicReplicateCommand.Create(),
        };

    /// <summary>Shows a topic, or what one of its partitions holds.</summary>
    public static void Answer(BrokerCall call, TopicInfo info, int? partition = null)
    {
        TopicView view = partition is { } one ? TopicView.From(info).Of(one) : TopicView.From(info);
        call.Answer(view, TopicsJson.Default.TopicView, static v => CommandConsole.Rows(v.Rows()));
    }

    private static BrokerCommand Ensure()
    {
        Argument<string> topic = CommonOptions.Topic();
        var settings = new TopicSettingOptions();
        var command = new BrokerCommand(
            "ensure",
            "Create a topic if it is missing, otherwise change the given settings that may be changed.",
            "lightq topic ensure orders --retention-age 7d",
            "lightq topic ensure ticks --kind transient --ring 64MiB --slow-policy drop-oldest"
        )
        {
            topic,
        };
        command.Run(async call =>
        {
            TopicSpec spec = settings.Read(call.Given, call.Required(topic));
            EnsureTopicResult result = await call.Client.Topics.EnsureAsync(spec, call.Cancellation);
            call.Answer(EnsureView.From(result), TopicsJson.Default.EnsureView, Describe(result));
        });
        settings.AddTo(command);
        return command;
    }

    private static BrokerCommand Show()
    {
        Argument<TopicAddress> topic = CommonOptions.Address();
        var command = new BrokerCommand(
            "show",
            "Show a topic or one of its partitions: its settings, its id and what it holds.",
            "lightq topic show orders --output json",
            "lightq topic show clicks/3"
        )
        {
            topic,
        };
        command.Run(async call =>
        {
            TopicAddress address = call.Required(topic);
            TopicInfo info = await call.Client.Topics.GetAsync(address.Topic, call.Cancellation);
            Answer(call, info, address.Partition);
        });
        return command;
    }

    private static BrokerCommand Delete()
    {
        Argument<string> topic = CommonOptions.Topic();
        Option<bool> yes = Confirmation.Yes();
        var command = new BrokerCommand(
            "delete",
            "Delete a topic with everything in it.",
            "lightq topic delete orders",
            "lightq topic delete orders --yes"
        )
        {
            topic,
            yes,
        };
        command.Run(async call =>
        {
            string name = call.Required(topic);
            if (!call.Get(yes))
            {
                TopicInfo info = await call.Client.Topics.GetAsync(name, call.Cancellation);
                Confirmation.Demand($"delete the topic {name} with {CountOf(TopicView.From(info))}");
            }
            await call.Client.Topics.DeleteAsync(name, call.Cancellation);
            call.Answer(new DeletedView(name), TopicsJson.Default.DeletedView, $"Deleted {name}.");
        });
        return command;
    }

    private static BrokerCommand Truncate()
    {
        Argument<TopicAddress> topic = CommonOptions.Address();
        Option<long?> before = ValueOptions.Number("--before", 0L);
        before.Description = "Remove the messages below this offset, of one partition.";
        var all = new Option<bool>("--all") { Description = "Remove all messages that are there now." };
        Option<bool> yes = Confirmation.Yes();
        var command = new BrokerCommand(
            "truncate",
            "Remove a topic's oldest messages, or those of one of its partitions.",
            "lightq topic truncate orders --before 1000000",
            "lightq topic truncate clicks/3 --all --yes"
        )
        {
            topic,
            before,
            all,
            yes,
        };
        command.Validators.Add(result =>
        {
            if (result.GetValue(all) == result.GetResult(before) is not null)
                result.AddError("Say what is to be removed: either --before OFFSET or --all.");
        });
        command.Run(async call =>
        {
            TopicAddress address = call.Required(topic);
            TruncateView[] done = await TruncateAsync(
                call.Client,
                address,
                call.Get(before),
                call.Get(yes),
                call.Cancellation
            );
            if (done is [TruncateView only])
            {
                call.Answer(
                    only,
                    TopicsJson.Default.TruncateView,
                    $"{address} now begins at offset {only.StartOffset}."
                );
            }
            else
            {
                call.Answer(done, TopicsJson.Default.TruncateViewArray, Write);
            }
        });
        return command;
    }

    private static async Task<TruncateView[]> TruncateAsync(
        LightQClient client,
        TopicAddress address,
        long? before,
        bool isConfirmed,
        CancellationToken cancellationToken
    )
    {
        TopicInfo topic = await client.Topics.GetAsync(address.Topic, cancellationToken);
        int[] partitions = address.Partition is { } one ? [one] : [.. Enumerable.Range(0, topic.Spec.Partitions)];
        if (partitions.Length > 1 && before is not null)
        {
            throw new CommandException(
                ExitCode.Usage,
                $"--before is an offset of one partition, and {address.Topic} has {partitions.Length}: name one, as "
                    + $"in {address.Topic}/0."
            );
        }

        if (!isConfirmed)
        {
            TopicView held = address.Partition is { } asked ? TopicView.From(topic).Of(asked) : TopicView.From(topic);
            string what = before is { } offset
                ? $"those below offset {offset.ToString(CultureInfo.InvariantCulture)} of {CountOf(held)}"
                : CountOf(held);
            Confirmation.Demand($"remove {what} from {address}");
        }
        var done = new List<TruncateView>();
        foreach (int partition in partitions)
        {
            done.Add(
                new TruncateView(
                    address.Topic,
                    partition,
                    await client.Topics.TruncateAsync(address.Topic, before, partition, cancellationToken)
                )
            );
        }

        return [.. done];
    }

    private static void Write(TruncateView[] done)
    {
        foreach (TruncateView view in done)
        {
            CommandConsole.Line(
                $"{new TopicAddress(view.Topic, view.Partition)} now begins at offset {view.StartOffset}."
            );
        }
    }

    private static string CountOf(TopicView topic) =>
        Plural.Of(topic.EndOffsets.Sum() - topic.StartOffsets.Sum(), "message");

    private static string Describe(EnsureTopicResult result) =>
        result.Created ? $"Created {result.Topic.Name}."
        : result.Changes.Count == 0 ? $"{result.Topic.Name} is as it should be."
        : $"Changed {result.Topic.Name}: "
            + $"{string.Join(", ", result.Changes.Select(c => $"{c.Setting} from {c.From} to {c.To}"))}.";
}
