using System.Globalization;
using System.Text.Json;
using LightQ.Bench.Processes;
using LightQ.Bench.Roles;

namespace LightQ.Bench.Nats;

/// <summary>
/// Three nats-servers with JetStream that form a cluster, on free ports of loopback, with everything below one folder.
/// They end with this process.
/// </summary>
internal sealed class NatsServers : IAsyncDisposable
{
    public const int Count = 3;

    private static readonly TimeSpan StartTimeout = TimeSpan.FromSeconds(60),
        Poll = TimeSpan.FromMilliseconds(100);

    /// <summary>The first version that knows <c>sync_interval</c>.</summary>
    private static readonly Version FirstWithSync = new(2, 10);

    private readonly ChildProcess?[] _processes = new ChildProcess?[Count];
    private readonly string _folder;
    private readonly string _program;
    private readonly int[] _ports = FreePorts.Take(3 * Count);

    private NatsServers(string folder, string program, Version version, bool syncsAlways)
    {
        (_folder, _program, Version, SyncsAlways) = (folder, program, version, syncsAlways);
        for (int server = 0; server < Count; server++)
            WriteConfiguration(server);
    }

    private enum Port
    {
        Clients,
        Servers,
        Monitoring,
    }

    public Version Version { get; }

    /// <summary>Whether they have on the disk what they acknowledge.</summary>
    public bool SyncsAlways { get; }

    /// <summary>Where clients find them.</summary>
    public IReadOnlyList<string> Addresses =>
        [.. Enumerable.Range(0, Count).Select(server => $"nats://{Address(server, Port.Clients)}")];

    /// <summary>Where they tell about themselves.</summary>
    public IReadOnlyList<string> Monitoring =>
        [.. Enumerable.Range(0, Count).Select(server => $"http://{Address(server, Port.Monitoring)}")];

    /// <summary>Starts them and waits until they have a leader.</summary>
    /// <param name="folder">Where their configurations, data and logs are; what is there is used again.</param>
    /// <param name="syncAlways">Whether they sync before they acknowledge; null: if they can.</param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <exception cref="BenchException">
    /// There is no nats-server on the PATH, it cannot sync as it is to, or does not start.
    /// </exception>
    public static async Task<NatsServers> StartAsync(
        string folder,
        bool? syncAlways,
        CancellationToken cancellationToken
    )
    {
        string program =
            NatsServer.Find()
            ?? throw new BenchException(
                BenchFailure.Unreachable,
                "There is no nats-server on the PATH. Debian and Ubuntu: apt-get install nats-server; others: "
                    + "https://docs.nats.io/running-a-nats-service/introduction/installation."
            );
        Version version = await NatsServer.VersionOfAsync(program, cancellationToken);
        bool canSync = version >= FirstWithSync;
        if (syncAlways == true && !canSync)
        {
            throw new BenchException(
                BenchFailure.Failed,
                $"nats-server {version} has no sync_interval; allowed: {FirstWithSync} or later."
            );
        }
        Directory.CreateDirectory(folder);
        var servers = new NatsServers(Path.GetFullPath(folder), program, version, syncAlways ?? canSync);
        try
        {
            for (int server = 0; server < Count; server++)
                servers.Start(server);
            await servers.WaitUntilReadyAsync(cancellationToken);
            return servers;
        }
        catch
        {
            await servers.DisposeAsync();
            throw;
        }
    }

    public async ValueTask DisposeAsync()
    {
        foreach (ChildProcess? process in _processes)
        {
            if (process is not null)
                await process.DisposeAsync();
        }
    }

    private static string NameOf(int server) => string.Create(CultureInfo.InvariantCulture, $"n{server + 1}");

    private string Address(int server, Port port) =>
        string.Create(CultureInfo.InvariantCulture, $"127.0.0.1:{_ports[(3 * server) + (int)port]}");

    private string ConfigurationOf(int server) => Path.Combine(_folder, $"{NameOf(server)}.conf");

    private void Start(int server) =>
        _processes[server] = ChildProcess.Start(
            "nats-server",
            [RoleProcess.Command, GuardRole.Name, _program, "-c", ConfigurationOf(server)]
        );

    private void WriteConfiguration(int server)
    {
        string routes = string.Join(
            ", ",
            Enumerable.Range(0, Count).Select(other => $"nats://{Address(other, Port.Servers)}")
        );
        string sync = SyncsAlways ? "sync_interval: always, " : "";
        File.WriteAllText(
            ConfigurationOf(server),
            $$"""
            server_name: {{NameOf(server)}}
            listen: {{Address(server, Port.Clients)}}
            http: {{Address(server, Port.Monitoring)}}
            max_payload: 8MB
            log_file: "{{Path.Combine(_folder, $"{NameOf(server)}.log")}}"
            jetstream { {{sync}}store_dir: "{{Path.Combine(_folder, NameOf(server))}}" }
            cluster {
              name: lightq
              listen: {{Address(server, Port.Servers)}}
              routes: [ {{routes}} ]
            }

            """
        );
    }

    private async Task WaitUntilReadyAsync(CancellationToken cancellationToken)
    {
        using var timeout = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        timeout.CancelAfter(StartTimeout);
        using var http = new HttpClient();
        try
        {
            for (int server = 0; server < Count; server++)
            {
                while (!await IsReadyAsync(http, server, timeout.Token))
                    await _processes[server]!.WhileAliveAsync(Task.Delay(Poll, timeout.Token));
            }
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            throw new BenchException(
                BenchFailure.Failed,
                $"The nats-servers have elected no leader within {StartTimeout.TotalSeconds} s; their logs are in "
                    + $"{_folder}."
            );
        }
    }

    private async Task<bool> IsReadyAsync(HttpClient http, int server, CancellationToken cancellationToken)
    {
        try
        {
            using var state = JsonDocument.Parse(
                await http.GetStringAsync(new Uri($"{Monitoring[server]}/jsz"), cancellationToken)
            );
            return state.RootElement.TryGetProperty("meta_cluster", out JsonElement meta)
                && meta.TryGetProperty("leader", out JsonElement leader)
                && leader.GetString() is { Length: > 0 }
                && meta.GetProperty("cluster_size").GetInt32() == Count;
        }
        catch (HttpRequestException)
        {
            return false;
        }
    }
}
