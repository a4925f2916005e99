using System.Runtime.InteropServices;
using System.Text.Json;
using LightQ.Cli.Clusters;
using LightQ.Cli.Output;
using LightQ.Replication.Nats;
using LightQ.Server;
using LightQ.Server.Configuration;
using Microsoft.Extensions.Logging;

namespace LightQ.Cli.Servers;

/// <summary>A broker that is this process: starts, says where it listens, stops when it is told to.</summary>
internal sealed class ServerProcess
{
    /// <summary>Flags that were given, with their texts.</summary>
    public required IReadOnlyDictionary<string, string> Flags { get; init; }

    /// <summary>The configuration file; null for the usual one.</summary>
    public string? ConfigurationFile { get; init; }

    public OutputFormat Output { get; init; }

    /// <summary>Whether it stops when standard input ends, as a child of another program does.</summary>
    public bool EndWithInput { get; init; }

    /// <summary>Shows the configuration in force.</summary>
    public int PrintConfiguration()
    {
        ServerConfiguration configuration = ServerConfiguration.Load(Flags, ConfigurationFile);
        Console.Out.WriteLine(
            Output == OutputFormat.Json
                ? ConfigurationPrinter.ToJson(configuration)
                : ConfigurationPrinter.ToText(configuration).TrimEnd()
        );
        return ExitCode.Ok;
    }

    /// <summary>Runs until the token is cancelled, or a client stops it over its control port.</summary>
    public async Task<int> RunAsync(CancellationToken stopping)
    {
        ServerConfiguration configuration = ServerConfiguration.Load(Flags, ConfigurationFile);
        var logging = new ServerLogging(configuration.Options.Log);
        using ILoggerFactory loggers = logging.Loggers;
        using var notifier = ServiceNotifier.FromEnvironment();
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(stopping);
        if (EndWithInput)
            InputEnd.Watch(stop.Cancel);
        await using LightQServer server = await LightQServer.StartAsync(
            configuration.Options with
            {
                // Nothing of it is loaded without a cluster.
                ReplicationEngine = static (cluster, loggers, cancellationToken) =>
                    NatsReplication.ConnectAsync(
                        cluster.Engine!,
                        cluster.Monitoring,
                        cluster.Name,
                        EngineSettings.LoginOf(cluster),
                        loggers,
                        cancellationToken
                    ),
            },
            loggers,
            stop.Token
        );
        server.ConfigurationSource = () => ServerConfiguration.Load(Flags, ConfigurationFile);
        server.OptionsChanged += (_, _) => logging.Apply(server.Options.Log);
        using PosixSignalRegistration? hangUp = OperatingSystem.IsWindows()
            ? null
            : PosixSignalRegistration.Create(
                PosixSignal.SIGHUP,
                signal =>
                {
                    signal.Cancel = true;
                    _ = ReloadAsync(server, notifier);
                }
            );
        Announce(ServerPorts.Of(server, configuration.Options.Bind.ToString()));
        notifier?.Ready();
        using var collector = RestCollector.Start(server);
        await server.Stopped.WaitAsync(stop.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        notifier?.Stopping(server.Options.DrainTimeout);
        if (!server.Stopped.IsCompleted && server.Options.DrainTimeout > TimeSpan.Zero)
            await DrainAsync(server);
        await server.StopAsync();
        return ExitCode.Ok;
    }

    /// <summary>A second signal waits no longer for clients.</summary>
    private static async Task DrainAsync(LightQServer server)
    {
        using var enough = new CancellationTokenSource();
        Interruption.Current?.Hurry = enough.Cancel;
        await server.DrainAsync(cancellationToken: enough.Token);
        Interruption.Current?.Hurry = null;
    }

    private static async Task ReloadAsync(LightQServer server, ServiceNotifier? notifier)
    {
        notifier?.Reloading();
        await server.ReloadAsync();
        notifier?.Ready();
    }

    private void Announce(ServerPorts ports)
    {
        if (Output == OutputFormat.Json)
        {
            Console.Out.WriteLine(JsonSerializer.Serialize(ports, ServersJson.Default.ServerPorts));
            return;
        }
        Console.Out.WriteLine($"data plane     {ports.Address}:{ports.DataPort}");
        Console.Out.WriteLine($"control plane  {ports.Address}:{ports.ControlPort}");
        Console.Out.WriteLine($"web            {ports.Address}:{ports.WebPort}");
        Console.Out.WriteLine($"data directory {ports.DataDirectory}");
        Console.Out.WriteLine("LightQ is ready; Ctrl-C stops it. Clients connect with");
        Console.Out.WriteLine(ports.ConnectionString);
        if (ports.RemoteConnectionStrings is null)
            return;
        Console.Out.WriteLine("and on other machines, where a network leads here, with");
        foreach (string remote in ports.RemoteConnectionStrings)
            Console.Out.WriteLine(remote);
    }
}
