using System.CommandLine;
using System.Text.Json;
using LightQ.Broker.Catalog;
using LightQ.Broker.Replication;
using LightQ.Cli.Options;
using LightQ.Cli.Output;
using LightQ.Replication.Nats;
using LightQ.Server;
using LightQ.Server.Configuration;
using Microsoft.Extensions.Logging.Abstractions;

namespace LightQ.Cli.Clusters;

/// <summary>
/// <c>lightq cluster init</c>: begins a cluster where the engine has streams of one and no catalog.
/// </summary>
internal static class InitCommand
{
    public static Command Create()
    {
        Option<string?> config = CommonOptions.ConfigurationFile();
        Option<bool> yes = Confirmation.Yes();
        Option<OutputFormat> output = CommonOptions.Output();
        var command = new ExampleCommand(
            "init",
            "Begin a new cluster where the engine has streams of one, and no catalog that knows them: no broker does "
                + "that by itself. Takes the file and environment of 'lightq server'. The streams are left as they are "
                + "and belong to no topic. An engine without such streams needs no init: the first broker begins.",
            "lightq cluster init --config lightq.json"
        );
        foreach (Option option in new Option[] { config, yes, output })
            command.Add(option);
        command.SetAction(
            (parsed, cancellationToken) =>
                RunAsync(
                    ServerConfiguration.Load(new Dictionary<string, string>(), parsed.GetValue(config)).Options.Cluster,
                    parsed.GetValue(yes),
                    parsed.GetValue(output) == OutputFormat.Json,
                    cancellationToken
                )
        );
        return command;
    }

    private static async Task RunAsync(
        ClusterOptions cluster,
        bool isConfirmed,
        bool isJson,
        CancellationToken cancellationToken
    )
    {
        if (cluster.Engine is null)
            throw new CommandException(ExitCode.Configuration, "There is no Cluster:Engine in these settings.");
        try
        {
            await using JetStreamEngine engine = await JetStreamEngine.ConnectAsync(
                EngineSettings.Of(cluster, NullLoggerFactory.Instance),
                cancellationToken
            );
            var init = new ClusterInit(engine, cluster.Name);
            (Guid? known, IReadOnlyList<string> streams) = await init.ExamineAsync(cancellationToken);
            if (known is { } id)
                throw new CommandException(ExitCode.Failed, $"There is a cluster '{cluster.Name}' already, {id}.");
            if (!isConfirmed)
            {
                Confirmation.Demand(
                    $"begin a new cluster '{cluster.Name}' beside {Plural.Of(streams.Count, "stream")} of another one, "
                        + "whose brokers will not join it"
                );
            }
            var view = new InitView(cluster.Name, await init.RunAsync(TimeProvider.System, cancellationToken), streams);
            CommandConsole.Line(
                isJson
                    ? JsonSerializer.Serialize(view, ClustersJson.Default.InitView)
                    : $"The cluster '{view.Cluster}' has begun, {view.Id}."
            );
        }
        catch (ReplicationException e)
        {
            throw new CommandException(ExitCode.Unavailable, Failure.OneLine(e.Message));
        }
        catch (ArgumentException e)
        {
            throw new CommandException(ExitCode.Configuration, Failure.OneLine(e.Message));
        }
    }
}
