using System.CommandLine;
using LightQ.Cli.Output;
using LightQ.Client;
using LightQ.Protocol;
using Spectre.Console;

namespace LightQ.Cli.Commands;

/// <summary><c>lightq topic</c>: creates, shows and deletes topics.</summary>
internal static class TopicCommand
{
    public static Command Create() => new ExampleCommand(
        "topic",
        "Create, show and delete topics.",
        "lightq topic create orders --kind durable",
        "lightq topic list",
        "lightq topic show orders --output json")
    {
        TopicCreateCommand.Create(),
        Ensure(),
        List(),
        Show(),
        Delete(),
        Truncate(),
    };

    /// <summary>Shows a topic.</summary>
    public static void WriteTopic(TopicInfo info, bool json)
    {
        TopicView view = TopicView.From(info);
        if (json)
        {
            Console.Out.WriteLine(CliJson.Write(view, CliJson.Default.TopicView));
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
            "lightq topic ensure orders --kind durable --retention-age 7d",
            "lightq topic ensure ticks --ring 64MiB --slow-consumer dropoldest")
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

    private static ExampleCommand List()
    {
        Option<string?> server = CommonOptions.Server();
        Option<OutputFormat> output = CommonOptions.Output();
        var command = new ExampleCommand("list", "List all topics.", "lightq topic list --output json") { server, output };
        command.SetAction(async (parsed, cancellationToken) =>
        {
            await using var client = new LightQClient(CommonOptions.ClientOptions(parsed.GetValue(server)));
            var topics = new List<TopicView>();
            await foreach (TopicInfo info in client.Topics.ListAsync(cancellationToken))
                topics.Add(TopicView.From(info));
            WriteList(topics, parsed.GetValue(output) == OutputFormat.Json);
            return ExitCode.Ok;
        });
        return command;
    }

    private static ExampleCommand Show()
    {
        Argument<string> topic = CommonOptions.Topic();
        Option<string?> server = CommonOptions.Server();
        Option<OutputFormat> output = CommonOptions.Output();
        var command = new ExampleCommand("show", "Show a topic: its settings, its id and what it holds.", "lightq topic show orders --output json") { topic, server, output };
        command.SetAction(async (parsed, cancellationToken) =>
        {
            await using var client = new LightQClient(CommonOptions.ClientOptions(parsed.GetValue(server)));
            TopicInfo info = await client.Topics.GetAsync(parsed.GetRequiredValue(topic), cancellationToken);
            WriteTopic(info, parsed.GetValue(output) == OutputFormat.Json);
            return ExitCode.Ok;
        });
        return command;
    }

    private static ExampleCommand Delete()
    {
        Argument<string> topic = CommonOptions.Topic();
        Option<string?> server = CommonOptions.Server();
        Option<OutputFormat> output = CommonOptions.Output();
        var command = new ExampleCommand("delete", "Delete a topic with everything in it.", "lightq topic delete orders") { topic, server, output };
        command.SetAction(async (parsed, cancellationToken) =>
        {
            await using var client = new LightQClient(CommonOptions.ClientOptions(parsed.GetValue(server)));
            string name = parsed.GetRequiredValue(topic);
            await client.Topics.DeleteAsync(name, cancellationToken);
            Console.Out.WriteLine(parsed.GetValue(output) == OutputFormat.Json
                ? CliJson.Write(new DeletedView(name), CliJson.Default.DeletedView)
                : $"Deleted {name}.");
            return ExitCode.Ok;
        });
        return command;
    }

    private static ExampleCommand Truncate()
    {
        Argument<TopicAddress> topic = CommonOptions.Address();
        Option<long?> before = ValueOptions.Number("--before", 0L);
        before.Description = "Remove the messages below this offset. Default: all that are there now.";
        Option<string?> server = CommonOptions.Server();
        Option<OutputFormat> output = CommonOptions.Output();
        var command = new ExampleCommand("truncate", "Remove a topic's oldest messages.", "lightq topic truncate orders --before 1000000") { topic, before, server, output };
        command.SetAction(async (parsed, cancellationToken) =>
        {
            await using var client = new LightQClient(CommonOptions.ClientOptions(parsed.GetValue(server)));
            TopicAddress address = parsed.GetRequiredValue(topic);
            long start = await client.Topics.TruncateAsync(address.Topic, parsed.GetValue(before), address.Partition ?? 0, cancellationToken);
            Console.Out.WriteLine(parsed.GetValue(output) == OutputFormat.Json
                ? CliJson.Write(new TruncateView(address.Topic, start), CliJson.Default.TruncateView)
                : $"{address.Topic} now begins at offset {start}.");
            return ExitCode.Ok;
        });
        return command;
    }

    private static void WriteEnsured(EnsureTopicResult result, bool json)
    {
        if (json)
        {
            Console.Out.WriteLine(CliJson.Write(EnsureView.From(result), CliJson.Default.EnsureView));
            return;
        }
        Console.Out.WriteLine(result.Created ? $"Created {result.Topic.Name}."
            : result.Changes.Count == 0 ? $"{result.Topic.Name} is as it should be."
            : $"Changed {result.Topic.Name}: {string.Join(", ", result.Changes.Select(c => $"{c.Setting} from {c.From} to {c.To}"))}.");
    }

    private static void WriteList(List<TopicView> topics, bool json)
    {
        if (json)
        {
            Console.Out.WriteLine(CliJson.Write([.. topics], CliJson.Default.TopicViewArray));
            return;
        }
        Table table = CommandConsole.Table("topic", "kind", "ack", "start", "end", "state");
        foreach (TopicView topic in topics)
        {
            table.AddRow(
                Markup.Escape(topic.Name),
                topic.Kind,
                topic.AckLevel,
                string.Join(' ', topic.StartOffsets),
                string.Join(' ', topic.EndOffsets),
                Markup.Escape(topic.Failure ?? "ok"));
        }
        new CommandConsole().Tables.Write(table);
    }
}
