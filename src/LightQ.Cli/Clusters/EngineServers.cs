using System.Globalization;
using LightQ.Bench;
using LightQ.Bench.Nats;
using LightQ.Bench.Processes;
using LightQ.Bench.Roles;
using LightQ.Cli.Output;
using LightQ.Replication.Nats;

namespace LightQ.Cli.Clusters;

/// <summary>
/// Three nats-servers with JetStream on loopback, below one folder. Each is a process that ends with this one, can be
/// killed, and starts again on its ports and its data.
/// </summary>
internal sealed class EngineServers : IAsyncDisposable
{
    public const int Count = 3;

    private const string Program = "nats-server";

    // For clients, for the other servers, for monitoring.
    private const int PortsEach = 3;

    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);
    private static readonly TimeSpan Poll = TimeSpan.FromMilliseconds(50);

    private readonly ChildProcess?[] _processes = new ChildProcess?[Count];
    private readonly string _program;
    private readonly string _folder;
    private readonly int _firstPort;

    private EngineServers(string program, string folder)
    {
        (_program, _folder) = (program, folder);
        _firstPort = LoopbackPorts.Find(PortsEach * Count);
    }

    /// <summary>The addresses for clients, as <c>Cluster:Engine</c> takes them.</summary>
    public string Addresses => string.Join(',', All.Select(server => $"nats://127.0.0.1:{Text(PortOf(server))}"));

    /// <summary>The monitoring ports, as <c>Cluster:Monitoring</c> takes them.</summary>
    public string Monitoring => string.Join(',', MonitoringPorts.Select(address => address.AbsoluteUri.TrimEnd('/')));

    private static IEnumerable<int> All => Enumerable.Range(0, Count);

    private IEnumerable<Uri> MonitoringPorts =>
        All.Select(server => new Uri($"http://127.0.0.1:{Text(PortOf(server) + 2)}"));

    /// <summary>The server program: the first on the path; null when there is none.</summary>
    public static string? FindProgram() =>
        // Debian has it in sbin, which is not in every user's path.
        (Environment.GetEnvironmentVariable("PATH") ?? "")
            .Split(Path.PathSeparator)
            .Append("/usr/sbin")
            .Where(folder => folder.Length != 0)
            .SelectMany(folder => new[] { Path.Combine(folder, Program), Path.Combine(folder, $"{Program}.exe") })
            .FirstOrDefault(File.Exists);

    /// <summary>Starts three of them and waits until they have a leader.</summary>
    /// <param name="folder">Where their settings, data and logs go; made when missing, and left behind.</param>
    /// <param name="syncAlways">Whether they sync before they acknowledge, which nats-server has from 2.10 on.</param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <exception cref="CommandException">There is no nats-server.</exception>
    /// <exception cref="BenchException">One of them does not start.</exception>
    public static async Task<EngineServers> StartAsync(
        string folder,
        bool syncAlways,
        CancellationToken cancellationToken
    )
    {
        string program =
            FindProgram()
            ?? throw new CommandException(
                ExitCode.Unavailable,
                $"There is no {Program} on the PATH. Debian and Ubuntu: apt-get install nats-server; others: "
                    + "https://github.com/nats-io/nats-server/releases."
            );
        Directory.CreateDirectory(folder);
        var servers = new EngineServers(program, Path.GetFullPath(folder));
        try
        {
            foreach (int server in All)
            {
                await File.WriteAllTextAsync(
                    servers.SettingsOf(server),
                    servers.Settings(server, syncAlways),
                    cancellationToken
                );
                servers.Start(server);
            }
            await servers.WaitUntilReadyAsync(cancellationToken);
            return servers;
        }
        catch
        {
            await servers.DisposeAsync();
            throw;
        }
    }

    public static string NameOf(int server) => $"n{Text(server + 1)}";

    /// <summary>Starts a server that does not run.</summary>
    public void Start(int server) =>
        _processes[server] ??= ChildProcess.Start(
            $"{Program} {NameOf(server)}",
            [RoleProcess.Command, GuardRole.Name, _program, "--config", SettingsOf(server)]
        );

    /// <summary>Kills a server as a crash does.</summary>
    public async Task KillAsync(int server)
    {
        if (_processes[server] is not { } process)
            return;
        _processes[server] = null;
        // The process between, which ends with this one, kills the server at once when its input ends.
        await process.DisposeAsync();
    }

    /// <summary>Waits until every server answers and knows the leader of all three.</summary>
    /// <exception cref="BenchException">One of them has ended, or they take too long.</exception>
    public async Task WaitUntilReadyAsync(CancellationToken cancellationToken)
    {
        using var patience = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        patience.CancelAfter(Patience);
        Task ready = WaitForLeaderAsync(patience.Token);
        try
        {
            foreach (int server in All)
            {
                if (_processes[server] is { } process)
                    await process.WhileAliveAsync(ready);
            }
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            throw new BenchException(
                BenchFailure.Failed,
                $"The {Program}s below {_folder} have no leader after {Patience.TotalSeconds:0} s; see the logs there."
            );
        }
    }

    public async ValueTask DisposeAsync()
    {
        foreach (int server in All)
            await KillAsync(server);
    }

    private static string Text(int value) => value.ToString(CultureInfo.InvariantCulture);

    private async Task WaitForLeaderAsync(CancellationToken cancellationToken)
    {
        while (true)
        {
            IReadOnlyList<MonitoredServer> servers = await ServerMonitoring.AskAsync(
                [.. MonitoringPorts],
                cancellationToken
            );
            if (servers.All(server => server is { HasLeader: true, ClusterSize: Count }))
                return;
            await Task.Delay(Poll, cancellationToken);
        }
    }

    private string Settings(int server, bool syncAlways)
    {
        string routes = string.Join(", ", All.Select(other => $"nats://127.0.0.1:{Text(PortOf(other) + 1)}"));
        return $$"""
            server_name: {{NameOf(server)}}
            listen: 127.0.0.1:{{Text(PortOf(server))}}
            http: 127.0.0.1:{{Text(PortOf(server) + 2)}}
            max_payload: 8MB
            log_file: "{{Slashed(Path.Combine(_folder, $"{NameOf(server)}.log"))}}"
            jetstream {
              store_dir: "{{Slashed(Path.Combine(_folder, NameOf(server)))}}"
              {{(syncAlways ? "sync_interval: always" : "")}}
            }
            cluster {
              name: lightq
              listen: 127.0.0.1:{{Text(PortOf(server) + 1)}}
              routes: [{{routes}}]
            }

            """;
    }

    // A backslash begins an escape in their files.
    private static string Slashed(string path) => path.Replace('\\', '/');

    private string SettingsOf(int server) => Path.Combine(_folder, $"{NameOf(server)}.conf");

    private int PortOf(int server) => _firstPort + (PortsEach * server);
}
