using System.CommandLine;
using System.Globalization;
using System.Text.Json;
using LightQ.Cli.Options;
using LightQ.Cli.Output;
using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.Protocol;
using Spectre.Console;

namespace LightQ.Cli.Topics;

/// <summary><c>lightq topic</c>: creates, shows and deletes topics.</summary>
internal static class TopicCommand
{
    public static Command Create() => new ExampleCommand(
        "topic",
        "Create, show and delete topics.",
        "lightq topic create orders",
        "lightq topic list",
        "lightq topic show orders --output json")
    {
        TopicCreateCommand.Create(),
        Ensure(),
        TopicListCommand.Create(),
        Show(),
        Delete(),
        Truncate(),
    };

    /// <summary>Shows a topic, or what one of its partitions holds.</summary>
    public static void WriteTopic(TopicInfo info, bool json, int? partition = null)
    {
        TopicView view = partition is { } one ? TopicView.From(info).Of(one) : TopicView.From(info);
        if (json)
        {
            Console.Out.WriteLine(JsonSerializer.Serialize(view, TopicsJson.Default.TopicView));
            return;
        }
        Table table = CommandConsole.Table("", "").HideHeaders();
        foreach ((string name, string value) in view.Rows())
            table.AddRow(Markup.Escape(name), Markup.Escape(value));
        new CommandConsole().Tables.Write(table);
    }

    private static ExampleCommand Ensure()
    {
        Argument<string> topic = CommonOptions.Topic();
        Option<string?> server = CommonOptions.Server();
        Option<OutputFormat> output = CommonOptions.Output();
        var settings = new TopicSettingOptions();
        var command = new ExampleCommand(
            "ensure",
            "Create a topic if it is missing, otherwise change the given settings that may be changed.",
            "lightq topic ensure orders --retention-age 7d",
            "lightq topic ensure ticks --kind transient --ring 64MiB --slow-policy drop-oldest")
        {
            topic, server, output,
        };
        settings.AddTo(command);
        command.SetAction(async (parsed, cancellationToken) =>
        {
            await using var client = new LightQClient(CommonOptions.ClientOptions(parsed.GetValue(server)));
            TopicSpec spec = settings.Read(parsed, parsed.GetRequiredValue(topic));
            WriteEnsured(await client.Topics.EnsureAsync(spec, cancellationToken), parsed.GetValue(output) == OutputFormat.Json);
            return ExitCode.Ok;
        });
        return command;
    }

    private static ExampleCommand Show()
    {
        Argument<TopicAddress> topic = CommonOptions.Address();
        Option<string?> server = CommonOptions.Server();
        Option<OutputFormat> output = CommonOptions.Output();
        var command = new ExampleCommand(
            "show", "Show a topic or one of its partitions: its settings, its id and what it holds.", "lightq topic show orders --output json", "lightq topic show clicks/3")
        {
            topic, server, output,
        };
        command.SetAction(async (parsed, cancellationToken) =>
        {
            await using var client = new LightQClient(CommonOptions.ClientOptions(parsed.GetValue(server)));
            TopicAddress address = parsed.GetRequiredValue(topic);
            TopicInfo info = await client.Topics.GetAsync(address.Topic, cancellationToken);
            WriteTopic(info, parsed.GetValue(output) == OutputFormat.Json, address.Partition);
            return ExitCode.Ok;
        });
        return command;
    }

    private static ExampleCommand Delete()
    {
        Argument<string> topic = CommonOptions.Topic();
        Option<string?> server = CommonOptions.Server();
        Option<bool> yes = Confirmation.Yes();
        Option<OutputFormat> output = CommonOptions.Output();
        var command = new ExampleCommand("delete", "Delete a topic with everything in it.", "lightq topic delete orders", "lightq topic delete orders --yes") { topic, yes, server, output };
        command.SetAction(async (parsed, cancellationToken) =>
        {
            await using var client = new LightQClient(CommonOptions.ClientOptions(parsed.GetValue(server)));
            string name = parsed.GetRequiredValue(topic);
            if (!parsed.GetValue(yes))
                Confirmation.Demand($"delete the topic {name} with {CountOf(TopicView.From(await client.Topics.GetAsync(name, cancellationToken)))}");
            await client.Topics.DeleteAsync(name, cancellationToken);
            Console.Out.WriteLine(parsed.GetValue(output) == OutputFormat.Json
                ? JsonSerializer.Serialize(new DeletedView(name), TopicsJson.Default.DeletedView)
                : $"Deleted {name}.");
            return ExitCode.Ok;
        });
        return command;
    }

    private static ExampleCommand Truncate()
    {
        Argument<TopicAddress> topic = CommonOptions.Address();
        Option<long?> before = ValueOptions.Number("--before", 0L);
        before.Description = "Remove the messages below this offset, of one partition.";
        var all = new Option<bool>("--all") { Description = "Remove all messages that are there now." };
        Option<bool> yes = Confirmation.Yes();
        Option<string?> server = CommonOptions.Server();
        Option<OutputFormat> output = CommonOptions.Output();
        var command = new ExampleCommand(
            "truncate", "Remove a topic's oldest messages, or those of one of its partitions.", "lightq topic truncate orders --before 1000000", "lightq topic truncate clicks/3 --all --yes")
        {
            topic, before, all, yes, server, output,
        };
        command.Validators.Add(result =>
        {
            if (result.GetValue(all) == result.GetResult(before) is not null)
                result.AddError("Say what is to be removed: either --before OFFSET or --all.");
        });
        command.SetAction(async (parsed, cancellationToken) =>
        {
            await using var client = new LightQClient(CommonOptions.ClientOptions(parsed.GetValue(server)));
            bool isConfirmed = parsed.GetValue(yes);
            TruncateView[] done = await TruncateAsync(client, parsed.GetRequiredValue(topic), parsed.GetValue(before), isConfirmed, cancellationToken);
            if (parsed.GetValue(output) == OutputFormat.Json)
                Console.Out.WriteLine(done is [TruncateView only] ? JsonSerializer.Serialize(only, TopicsJson.Default.TruncateView) : JsonSerializer.Serialize(done, TopicsJson.Default.TruncateViewArray));
            else
                Array.ForEach(done, d => Console.Out.WriteLine($"{(done.Length == 1 ? parsed.GetRequiredValue(topic) : new TopicAddress(d.Topic, d.Partition))} now begins at offset {d.StartOffset}."));
            return ExitCode.Ok;
        });
        return command;
    }

    private static async Task<TruncateView[]> TruncateAsync(LightQClient client, TopicAddress address, long? before, bool isConfirmed, CancellationToken cancellationToken)
    {
        TopicInfo topic = await client.Topics.GetAsync(address.Topic, cancellationToken);
        int[] partitions = address.Partition is { } one ? [one] : [.. Enumerable.Range(0, topic.Spec.Partitions)];
        if (partitions.Length > 1 && before is not null)
            throw new CommandException(ExitCode.Usage, $"--before is an offset of one partition, and {address.Topic} has {partitions.Length}: name one, as in {address.Topic}/0.");
        if (!isConfirmed)
        {
            TopicView held = address.Partition is { } asked ? TopicView.From(topic).Of(asked) : TopicView.From(topic);
            string what = before is { } offset ? $"those below offset {offset.ToString(CultureInfo.InvariantCulture)} of {CountOf(held)}" : CountOf(held);
            Confirmation.Demand($"remove {what} from {address}");
        }
        var done = new List<TruncateView>();
        foreach (int partition in partitions)
            done.Add(new TruncateView(address.Topic, partition, await client.Topics.TruncateAsync(address.Topic, before, partition, cancellationToken)));
        return [.. done];
    }

    private static string CountOf(TopicView topic) => Plural.Of(topic.EndOffsets.Sum() - topic.StartOffsets.Sum(), "message");

    private static void WriteEnsured(EnsureTopicResult result, bool json)
    {
        if (json)
        {
            Console.Out.WriteLine(JsonSerializer.Serialize(EnsureView.From(result), TopicsJson.Default.EnsureView));
            return;
        }
        Console.Out.WriteLine(result.Created ? $"Created {result.Topic.Name}."
            : result.Changes.Count == 0 ? $"{result.Topic.Name} is as it should be."
            : $"Changed {result.Topic.Name}: {string.Join(", ", result.Changes.Select(c => $"{c.Setting} from {c.From} to {c.To}"))}.");
    }
}
