using System.Diagnostics;
using System.Globalization;
using LightQ.IntegrationTests;
using Xunit;

namespace LightQ.ClusterTests.Nats;

/// <summary>Three nats-servers with JetStream on loopback, each a process that can be killed, stopped and restarted.</summary>
internal sealed class NatsCluster : IAsyncDisposable
{
    public const int Servers = 3;

    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    private readonly TemporaryDirectory _directory = new();
    private readonly Process?[] _processes = new Process?[Servers];
    private readonly bool[] _isStopped = new bool[Servers];
    private readonly ServerMonitor _monitor = new();
    private readonly string _program;
    private readonly int _firstPort;

    private NatsCluster(string program)
    {
        _program = program;
        // Each server has three: for clients, for the other servers, for its own health.
        _firstPort = FreePorts.Find(3 * Servers);
        for (int server = 0; server < Servers; server++)
            WriteConfiguration(server);
    }

    /// <summary>Where a client finds all of them.</summary>
    public IReadOnlyList<string> Addresses =>
        [.. Enumerable.Range(0, Servers).Select(server => $"nats://127.0.0.1:{Text(ClientPort(server))}")];

    /// <summary>The ports of the same.</summary>
    public IReadOnlyList<int> Ports => [.. Enumerable.Range(0, Servers).Select(ClientPort)];

    /// <summary>Where each of them says how it is.</summary>
    public IReadOnlyList<string> Monitoring =>
        [.. Enumerable.Range(0, Servers).Select(server => $"http://127.0.0.1:{Text(ClientPort(server) + 2)}")];

    /// <summary>
    /// The server program: what <c>LIGHTQ_NATS_SERVER</c> names, else from the path; null when there is none.
    /// </summary>
    public static string? FindProgram()
    {
        if (Environment.GetEnvironmentVariable("LIGHTQ_NATS_SERVER") is { Length: > 0 } named)
            return File.Exists(named) ? named : throw new FileNotFoundException("LIGHTQ_NATS_SERVER", named);
        // Debian has it in sbin, which is not in every user's path.
        return (Environment.GetEnvironmentVariable("PATH") ?? "")
            .Split(Path.PathSeparator)
            .Append("/usr/sbin")
            .Where(folder => folder.Length != 0)
            .Select(folder => Path.Combine(folder, "nats-server"))
            .FirstOrDefault(File.Exists);
    }

    public static async Task<NatsCluster> StartAsync(string program)
    {
        var cluster = new NatsCluster(program);
        try
        {
            for (int server = 0; server < Servers; server++)
                cluster.Start(server);
            await cluster.WaitUntilReadyAsync();
            return cluster;
        }
        catch
        {
            await cluster.DisposeAsync();
            throw;
        }
    }

    public static string NameOf(int server) => $"n{Text(server + 1)}";

    /// <summary>The server of a name, as JetStream names the leader of a stream.</summary>
    public static int IndexOf(string name) => int.Parse(name.AsSpan(1), CultureInfo.InvariantCulture) - 1;

    /// <summary>Starts a server that was killed. It keeps its port and its data.</summary>
    public void Start(int server)
    {
        if (_processes[server] is not null)
            return;
        _processes[server] = Process.Start(new ProcessStartInfo(_program, ["-c", ConfigurationOf(server)]))!;
    }

    /// <summary>Kills a server as a crash does (SIGKILL).</summary>
    public async Task KillAsync(int server)
    {
        if (_processes[server] is not { } process)
            return;
        process.Kill();
        await process.WaitForExitAsync(CancellationToken.None);
        process.Dispose();
        _processes[server] = null;
        _isStopped[server] = false;
    }

    /// <summary>Makes a server stand still (SIGSTOP); its connections stay.</summary>
    public Task StopAsync(int server) => SignalAsync(server, "STOP", isStopped: true);

    /// <summary>Lets a server that stands still go on (SIGCONT).</summary>
    public Task ContinueAsync(int server) => SignalAsync(server, "CONT", isStopped: false);

    /// <summary>Continues and starts whatever does not run, and waits until all is well.</summary>
    public async Task HealAsync()
    {
        for (int server = 0; server < Servers; server++)
        {
            if (_isStopped[server])
                await ContinueAsync(server);
            Start(server);
        }
        await WaitUntilReadyAsync();
    }

    /// <summary>Kills a server, starts it again, and waits until it has what the others have.</summary>
    public async Task RestartAsync(int server)
    {
        await KillAsync(server);
        Start(server);
        await WaitUntilReadyAsync();
    }

    /// <summary>
    /// Waits until every server is well, and has of each stream what any server had when this began: a majority is not
    /// enough, for the next that is killed may be one of it.
    /// </summary>
    public async Task WaitUntilReadyAsync()
    {
        for (int server = 0; server < Servers; server++)
        {
            string last = "";
            await Eventually.TrueAsync(
                async () => (last = await _monitor.DescribeAsync(Monitoring[server], Servers)).Length == 0,
                Patience,
                () => $"nats-server {NameOf(server)} is not ready: {last}\n{LogOf(server)}"
            );
        }
        Dictionary<string, ulong> ends = EndsOf(await ReadReplicasAsync());
        List<ReplicaState> behind = [];
        await Eventually.TrueAsync(
            async () =>
            {
                List<ReplicaState> now = await ReadReplicasAsync();
                behind = [.. now.Where(replica => replica.Last < ends.GetValueOrDefault(replica.Stream))];
                return behind.Count == 0 && now.GroupBy(replica => replica.Stream).All(all => all.Count() == Servers);
            },
            Patience,
            () => $"Replicas are behind: {string.Join(", ", behind)}"
        );
    }

    /// <summary>What each server itself has of a stream.</summary>
    public async Task<List<ReplicaState>> ReadReplicasAsync(string stream) =>
        [.. (await ReadReplicasAsync()).Where(replica => replica.Stream == stream)];

    /// <summary>The servers' version, as a running one says it.</summary>
    public Task<string> ReadVersionAsync() => _monitor.ReadVersionAsync(Monitoring[0]);

    public async ValueTask DisposeAsync()
    {
        for (int server = 0; server < Servers; server++)
            await KillAsync(server);
        _monitor.Dispose();
        _directory.Dispose();
    }

    private static Dictionary<string, ulong> EndsOf(IEnumerable<ReplicaState> replicas) =>
        replicas.GroupBy(replica => replica.Stream).ToDictionary(all => all.Key, all => all.Max(one => one.Last));

    private async Task<List<ReplicaState>> ReadReplicasAsync()
    {
        List<ReplicaState> replicas = [];
        for (int server = 0; server < Servers; server++)
            replicas.AddRange(await _monitor.ReadReplicasAsync(NameOf(server), Monitoring[server], Servers));
        return replicas;
    }

    private async Task SignalAsync(int server, string signal, bool isStopped)
    {
        using Process kill = Process.Start("kill", [$"-{signal}", Text(_processes[server]!.Id)]);
        await kill.WaitForExitAsync(CancellationToken.None);
        Assert.Equal(0, kill.ExitCode);
        _isStopped[server] = isStopped;
    }

    private void WriteConfiguration(int server)
    {
        string routes = string.Join(
            ", ",
            Enumerable.Range(0, Servers).Select(other => $"nats://127.0.0.1:{Text(ClientPort(other) + 1)}")
        );
        File.WriteAllText(
            ConfigurationOf(server),
            $$"""
            server_name: {{NameOf(server)}}
            listen: 127.0.0.1:{{Text(ClientPort(server))}}
            http: 127.0.0.1:{{Text(ClientPort(server) + 2)}}
            max_payload: 8MB
            log_file: "{{_directory.File($"{NameOf(server)}.log")}}"
            jetstream { store_dir: "{{_directory.File(NameOf(server))}}", max_mem: 256MB, max_file: 8GB }
            cluster {
              name: lightq-test
              listen: 127.0.0.1:{{Text(ClientPort(server) + 1)}}
              no_advertise: true # Clients stay on the networks that they were given.
              routes: [{{routes}}]
            }
            """
        );
    }

    private string LogOf(int server)
    {
        string path = _directory.File($"{NameOf(server)}.log");
        return File.Exists(path) ? string.Join('\n', File.ReadLines(path).TakeLast(30)) : "";
    }

    private string ConfigurationOf(int server) => _directory.File($"{NameOf(server)}.conf");

    private int ClientPort(int server) => _firstPort + (3 * server);

    private static string Text(int value) => value.ToString(CultureInfo.InvariantCulture);
}
