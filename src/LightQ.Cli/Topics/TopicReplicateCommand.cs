using System.CommandLine;
using LightQ.Cli.Options;
using LightQ.Cli.Output;
using LightQ.Client;
using LightQ.Client.Administration;

namespace LightQ.Cli.Topics;

/// <summary><c>lightq topic replicate</c>: gives a durable topic replicas, with all that it holds.</summary>
internal static class TopicReplicateCommand
{
    private static readonly TimeSpan Poll = TimeSpan.FromMilliseconds(500);

    public static BrokerCommand Create()
    {
        Argument<string> topic = CommonOptions.Topic();
        Option<int?> replicas = ValueOptions.NumberAmong("--replicas", 3, 5);
        replicas.Description =
            "On how many servers of the cluster's replicated log the topic is to be: 3, the default, or 5.";
        var command = new BrokerCommand(
            "replicate",
            "Give a durable topic of a cluster replicas. It keeps its messages at their offsets, its groups and named "
                + "producers, and is served meanwhile but for the last moment. It goes on when this is interrupted; "
                + "run it again to see how far it is.",
            "lightq topic replicate orders",
            "lightq topic replicate orders --replicas 5"
        )
        {
            topic,
            replicas,
        };
        command.Run(async call =>
        {
            string name = call.Required(topic);
            int number = call.Get(replicas) ?? 3;
            await ReplicateAsync(call.Client, name, number, call.Cancellation);
            call.Answer(
                new ReplicateView(name, number),
                TopicsJson.Default.ReplicateView,
                $"{name} has {number} replicas."
            );
        });
        return command;
    }

    private static async Task ReplicateAsync(
        LightQClient client,
        string topic,
        int replicas,
        CancellationToken cancellationToken
    )
    {
        var console = new CommandConsole();
        while (true)
        {
            TopicReplication progress = await client.Topics.ReplicateAsync(topic, replicas, cancellationToken);
            if (progress.IsDone)
                break;
            console.Progress(
                $"{topic}: {SizeText.Short(progress.CopiedBytes)} of about {SizeText.Short(progress.TotalBytes)} copied"
            );
            await Task.Delay(Poll, cancellationToken);
        }
        console.EndProgress();
    }
}
