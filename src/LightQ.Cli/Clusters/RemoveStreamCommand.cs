using System.CommandLine;
using LightQ.Cli.Options;
using LightQ.Cli.Output;

namespace LightQ.Cli.Clusters;

/// <summary><c>lightq cluster remove-stream</c>: removes what no topic has.</summary>
internal static class RemoveStreamCommand
{
    public static BrokerCommand Create()
    {
        Argument<string[]> names = new("NAME")
        {
            Description = "The streams, as 'lightq cluster status' names them.",
            Arity = ArgumentArity.OneOrMore,
        };
        Option<bool> yes = Confirmation.Yes();
        var command = new BrokerCommand(
            "remove-stream",
            "Remove streams of the engine that belong to no topic, with all that they hold. No broker does that by "
                + "itself. One that is of a topic is refused, and then none is removed.",
            "lightq cluster remove-stream LQ_shop_0199aaaa111170008000000000000042_0"
        )
        {
            names,
            yes,
        };
        command.Run(async call =>
        {
            string[] streams = call.Required(names);
            if (!call.Get(yes))
                Confirmation.Demand($"delete {Plural.Of(streams.Length, "stream")} of the engine with all messages");
            await call.Client.Cluster.RemoveStreamsAsync(streams, call.Cancellation);
            call.Answer(
                new RemovedStreamsView(streams),
                ClustersJson.Default.RemovedStreamsView,
                $"Removed {Plural.Of(streams.Length, "stream")}."
            );
        });
        return command;
    }
}
