using System.CommandLine;
using LightQ.Cli.Options;
using LightQ.Cli.Reference;
using LightQ.Client;
using LightQ.Client.Administration;

namespace LightQ.Cli.Topics;

/// <summary>
/// <c>lightq topic create</c>: one topic, or with <c>-n</c> the separate topics of <c>producer</c> and <c>consumer</c>.
/// </summary>
internal static class TopicCreateCommand
{
    private const string Queue = "queue",
        File = "file";

    public static Command Create()
    {
        Argument<string?> topic = new("TOPIC")
        {
            Description = "The topic's name. With -n the part before the number, by default test.",
            Arity = ArgumentArity.ZeroOrOne,
        };
        Option<int?> topics = TransferOptions.Topics();
        Option<string?> storage = new("--storage", "-s")
        {
            Description = "The same as --kind in the words of the documents: queue for transient, file for durable.",
            HelpName = $"{Queue}|{File}",
        };
        storage.AcceptOnlyFromAmong(Queue, File);
        var settings = new TopicSettingOptions();
        var command = new BrokerCommand(
            "create",
            "Create a topic; it is an error if there is one of that name. What cannot be changed later says so below; "
                + "the rest 'topic ensure' changes.",
            "lightq topic create orders --retention-age 7d",
            "lightq topic create clicks --partitions 16",
            "lightq topic create orders --kind durable --replicas 3",
            "lightq topic create ticks --kind transient --ring 64MiB --slow-policy drop-oldest",
            "lightq topic create -n 1 -s file"
        )
        {
            topic,
            topics,
            storage,
        };
        command.Validators.Add(result =>
        {
            if (result.GetResult(topic) is not { Tokens.Count: > 0 } && result.GetResult(topics) is null)
                result.AddError("'lightq topic create' needs TOPIC, or -n N for the topics test_1 to test_N.");
            if (result.GetResult(storage) is not null && settings.IsKindGiven(result))
                result.AddError("Give --kind or --storage, not both.");
        });
        command.Run(async call =>
        {
            string name = call.Get(topic) ?? TransferTopics.UsualName;
            TopicSpec spec = settings.Read(call.Given, name);
            if (call.Get(storage) is { } word)
                spec = spec with { Kind = word == File ? TopicKind.Durable : TopicKind.Transient };
            else if (spec.Kind == TopicKind.Default && call.Get(topics) is not null)
                spec = spec with { Kind = TopicKind.Transient }; // As the documents say of their topics.
            if (call.Get(topics) is { } count)
                await CreateAsync(call, spec, count);
            else
                TopicCommand.Answer(call, await call.Client.Topics.CreateAsync(spec, call.Cancellation));
        });
        settings.AddTo(command);
        return command;
    }

    private static async Task CreateAsync(BrokerCall call, TopicSpec spec, int count)
    {
        var created = new List<TopicView>();
        foreach (string name in TransferTopics.Of(spec.Name, count))
        {
            TopicInfo info = await call.Client.Topics.CreateAsync(spec with { Name = name }, call.Cancellation);
            created.Add(TopicView.From(info));
        }
        call.Answer([.. created], TopicsJson.Default.TopicViewArray, $"topic {spec.Name} created successfully");
    }
}
