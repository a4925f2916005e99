using System.CommandLine;
using System.Text.Json;
using LightQ.Cli.Ancestors;
using LightQ.Cli.Options;
using LightQ.Cli.Output;
using LightQ.Client;

namespace LightQ.Cli.Topics;

/// <summary><c>lightq topic create</c>: one topic, or with <c>-n</c> the separate topics of <c>producer</c> and <c>consumer</c>.</summary>
internal static class TopicCreateCommand
{
    private const string Queue = "queue", File = "file";

    public static Command Create()
    {
        Argument<string?> topic = new("TOPIC") { Description = "The topic's name. With -n the part before the number, by default test.", Arity = ArgumentArity.ZeroOrOne };
        Option<int?> topics = TransferOptions.Topics();
        Option<string?> storage = new("--storage", "-s") { Description = "The same as --kind in the words of the documents: queue for transient, file for durable.", HelpName = $"{Queue}|{File}" };
        storage.AcceptOnlyFromAmong(Queue, File);
        Option<string?> server = CommonOptions.Server();
        Option<OutputFormat> output = CommonOptions.Output();
        var settings = new TopicSettingOptions();
        var command = new ExampleCommand(
            "create",
            "Create a topic; it is an error if there is one of that name. What cannot be changed later says so below; the rest 'topic ensure' changes.",
            "lightq topic create orders --retention-age 7d",
            "lightq topic create clicks --partitions 16",
            "lightq topic create ticks --kind transient --ring 64MiB --slow-policy drop-oldest",
            "lightq topic create -n 1 -s file")
        {
            topic, topics, storage, server, output,
        };
        settings.AddTo(command);
        command.Validators.Add(result =>
        {
            if (result.GetResult(topic) is not { Tokens.Count: > 0 } && result.GetResult(topics) is null)
                result.AddError("'lightq topic create' needs TOPIC, or -n N for the topics test_1 to test_N.");
            if (result.GetResult(storage) is not null && settings.IsKindGiven(result))
                result.AddError("Give --kind or --storage, not both.");
        });
        command.SetAction(async (parsed, cancellationToken) =>
        {
            await using var client = new LightQClient(CommonOptions.ClientOptions(parsed.GetValue(server)));
            string name = parsed.GetValue(topic) ?? TransferTopics.UsualName;
            TopicSpec spec = settings.Read(parsed, name);
            if (parsed.GetValue(storage) is { } word)
                spec = spec with { Kind = word == File ? TopicKind.Durable : TopicKind.Transient };
            else if (spec.Kind == TopicKind.Default && parsed.GetValue(topics) is not null)
                spec = spec with { Kind = TopicKind.Transient }; // As the documents say of their topics.
            bool json = parsed.GetValue(output) == OutputFormat.Json;
            if (parsed.GetValue(topics) is { } count)
                await CreateAsync(client, spec, count, json, cancellationToken);
            else
                TopicCommand.WriteTopic(await client.Topics.CreateAsync(spec, cancellationToken), json);
            return ExitCode.Ok;
        });
        return command;
    }

    private static async Task CreateAsync(LightQClient client, TopicSpec spec, int count, bool json, CancellationToken cancellationToken)
    {
        var created = new List<TopicView>();
        foreach (string name in TransferTopics.Of(spec.Name, count))
            created.Add(TopicView.From(await client.Topics.CreateAsync(spec with { Name = name }, cancellationToken)));
        Console.Out.WriteLine(json ? JsonSerializer.Serialize([.. created], TopicsJson.Default.TopicViewArray) : $"topic {spec.Name} created successfully");
    }
}
