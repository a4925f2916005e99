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

    /// <summary>Starts one that does not run.</summary>
    public void Start(int server) =>
        _processes[server] = ChildProcess.Start(
            "nats-server",
            [RoleProcess.Command, GuardRole.Name, _program, "-c", ConfigurationOf(server)]
        );

    /// <summary>kill -9.</summary>
    public async Task KillAsync(int server)
    {
        if (_processes[server] is not { } process)
            return;
        _processes[server] = null;
        ProcessSignal.KillProcess(IdOf(server));
        await process.DisposeAsync();
    }

    /// <summary>One stands still for so long.</summary>
    public async Task PauseAsync(int server, TimeSpan time)
    {
        int id = IdOf(server);
        ProcessSignal.StopProcess(id);
        try
        {
            await Task.Delay(time);
        }
        finally
        {
            ProcessSignal.ContinueProcess(id);
        }
    }

    /// <summary>The server that leads the others: waits until one does.</summary>
    public async Task<int> LeaderAsync(CancellationToken cancellationToken)
    {
        await WaitUntilReadyAsync(cancellationToken);
        using var http = new HttpClient();
        while (true)
        {
            string? leader = await LeaderAsync(http, 0, cancellationToken);
            for (int server = 0; server < Count; server++)
            {
                if (leader == NameOf(server))
                    return server;
            }
            await Task.Delay(Poll, cancellationToken);
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

    /// <summary>A server's name.</summary>
    public static string NameOf(int server) => string.Create(CultureInfo.InvariantCulture, $"n{server + 1}");

    private string Address(int server, Port port) =>
        string.Create(CultureInfo.InvariantCulture, $"127.0.0.1:{_ports[(3 * server) + (int)port]}");

    private string ConfigurationOf(int server) => Path.Combine(_folder, $"{NameOf(server)}.conf");

    private string PidFileOf(int server) => Path.Combine(_folder, $"{NameOf(server)}.pid");

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
            pid_file: "{{PidFileOf(server)}}"
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

    /// <summary>Waits until all are up and know their leader.</summary>
    public async Task WaitUntilReadyAsync(CancellationToken cancellationToken)
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

    private int IdOf(int server) => int.Parse(File.ReadAllText(PidFileOf(server)), CultureInfo.InvariantCulture);

    /// <summary>Whether a server is up, and all of them have a leader.</summary>
    private async Task<bool> IsReadyAsync(HttpClient http, int server, CancellationToken cancellationToken) =>
        await LeaderAsync(http, server, cancellationToken) is not null;

    /// <summary>Who leads the three, as one of them says; null while it is not up, or nobody does.</summary>
    private async Task<string?> LeaderAsync(HttpClient http, int server, CancellationToken cancellationToken)
    {
        try
        {
            using var state = JsonDocument.Parse(
                await http.GetStringAsync(new Uri($"{Monitoring[server]}/jsz"), cancellationToken)
            );
            return
                state.RootElement.TryGetProperty("meta_cluster", out JsonElement meta)
                && meta.TryGetProperty("leader", out JsonElement leader)
                && leader.GetString() is { Length: > 0 } name
                && meta.GetProperty("cluster_size").GetInt32() == Count
                ? name
                : null;
        }
        catch (HttpRequestException)
        {
            return null;
        }
    }
}
