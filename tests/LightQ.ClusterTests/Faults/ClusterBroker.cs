using LightQ.IntegrationTests.Faults;

namespace LightQ.ClusterTests.Faults;

/// <summary>
/// One node of a cluster: a <c>lightq server</c> process that reaches the nats-servers, and is reached by clients and
/// other nodes, through networks that can be cut.
/// </summary>
internal sealed class ClusterBroker : IAsyncDisposable
{
    /// <summary>What a connection to the servers says of itself over which nodes hear each other.</summary>
    private const string Channels = "/channels\"";

    private readonly HoldingProxy[] _toEngine;
    private readonly HoldingProxy _data,
        _control;
    private readonly FaultBroker _broker;

    /// <param name="name">The node's name.</param>
    /// <param name="directory">Its data directory.</param>
    /// <param name="cluster">The cluster's name.</param>
    /// <param name="enginePorts">The nats-servers' ports.</param>
    /// <param name="witness">Who reads what it and they say to each other.</param>
    /// <param name="variables">Variables in its environment.</param>
    public ClusterBroker(
        string name,
        string directory,
        string cluster,
        IEnumerable<int> enginePorts,
        EngineWitness witness,
        params (string Name, string Value)[] variables
    )
    {
        Name = name;
        _toEngine = [.. enginePorts.Select(port => new HoldingProxy(port, Channels, witness))];
        int first = FaultBroker.FindPorts();
        _data = new HoldingProxy(first);
        _control = new HoldingProxy(first + 1);
        _broker = new FaultBroker(
            directory,
            first,
            ("Cluster:Engine", string.Join(',', _toEngine.Select(proxy => $"nats://127.0.0.1:{proxy.Port}"))),
            ("Cluster:Name", cluster),
            ("Cluster:Node", name),
            ("Cluster:AdvertiseData", DataAddress),
            ("Cluster:AdvertiseControl", ControlAddress),
            ("Cluster:RequireSync", "false") // Debian's nats-server cannot.
        )
        {
            Variables = variables,
        };
    }

    public string Name { get; }

    public string DataAddress => FormattableString.Invariant($"127.0.0.1:{_data.Port}");

    public string ControlAddress => FormattableString.Invariant($"127.0.0.1:{_control.Port}");

    public int DataPort => _data.Port;

    public int ControlPort => _control.Port;

    public int WebPort => _broker.WebPort;

    /// <summary>The data directory.</summary>
    public string Directory => _broker.Directory;

    public int ProcessId => _broker.ProcessId;

    public string Log => _broker.Log;

    public bool IsRunning { get; private set; }

    public async Task StartAsync()
    {
        await _broker.StartAsync();
        _data.Open();
        _control.Open();
        IsRunning = true;
    }

    /// <summary>kill -9.</summary>
    public async Task KillAsync()
    {
        IsRunning = false;
        await _broker.KillAsync();
        await CloseAsync();
    }

    /// <summary>SIGTERM, and waits for the end.</summary>
    /// <returns>The exit code.</returns>
    public async Task<int> TerminateAsync()
    {
        IsRunning = false;
        int exitCode = (await _broker.TerminateAsync()).ExitCode;
        await CloseAsync();
        return exitCode;
    }

    /// <summary>SIGSTOP: it stands still, and its connections stay.</summary>
    public Task StopAsync() => _broker.SignalAsync("STOP");

    /// <summary>SIGCONT.</summary>
    public Task ContinueAsync() => _broker.SignalAsync("CONT");

    public void CutFromEngine() => Array.ForEach(_toEngine, proxy => proxy.Cut());

    /// <summary>No heartbeat passes in either direction, while the log hears the node as before.</summary>
    public void CutFromNodes() => Array.ForEach(_toEngine, proxy => proxy.CutMarked());

    public void CutFromClients()
    {
        _data.Cut();
        _control.Cut();
    }

    public void Heal()
    {
        Array.ForEach(_toEngine, proxy => proxy.Heal());
        _data.Heal();
        _control.Heal();
    }

    public async ValueTask DisposeAsync()
    {
        Heal();
        await _broker.DisposeAsync();
        foreach (HoldingProxy proxy in _toEngine.Append(_data).Append(_control))
            await proxy.DisposeAsync();
    }

    private async Task CloseAsync()
    {
        await _data.CloseAsync();
        await _control.CloseAsync();
    }
}
