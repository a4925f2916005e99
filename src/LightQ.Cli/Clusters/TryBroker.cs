using System.Globalization;
using System.Text.Json;
using LightQ.Bench.Processes;

namespace LightQ.Cli.Clusters;

/// <summary>One broker of a cluster to try: a process that can be killed, and starts again on the same ports.</summary>
internal sealed class TryBroker : IAsyncDisposable
{
    private readonly int[] _ports = FreePorts.Take(3);
    private readonly string _folder;
    private ChildProcess? _process;

    /// <param name="name">The node's name, and that of its folder.</param>
    /// <param name="folder">The folder of all.</param>
    /// <param name="engine">The nats-servers.</param>
    /// <param name="monitoring">Where these tell whether they sync; null when they cannot.</param>
    public TryBroker(string name, string folder, string engine, string? monitoring)
    {
        Name = name;
        _folder = Path.Combine(folder, name);
        Directory.CreateDirectory(_folder);
        File.WriteAllText(
            ConfigurationFile,
            JsonSerializer.Serialize(
                new TryConfiguration(
                    new TryConfiguration.ClusterSection(
                        engine,
                        "try",
                        name,
                        DataAddress,
                        ControlAddress,
                        monitoring is not null,
                        monitoring
                    )
                ),
                ConfigurationJson.Default.TryConfiguration
            )
        );
    }

    public string Name { get; }

    public string DataAddress => Address(0);

    public string ControlAddress => Address(1);

    public int ControlPort => _ports[1];

    private string ConfigurationFile => Path.Combine(_folder, "lightq.json");

    /// <summary>Starts it and waits until it is ready.</summary>
    public async Task StartAsync(CancellationToken cancellationToken)
    {
        var process = ChildProcess.Start(
            $"broker {Name}",
            [
                "server",
                "--config",
                ConfigurationFile,
                "--data",
                Path.Combine(_folder, "data"),
                "--data-port",
                Text(_ports[0]),
                "--control-port",
                Text(_ports[1]),
                "--web-port",
                Text(_ports[2]),
                "--bind",
                "127.0.0.1",
                "--require-auth",
                "false",
                "--log-level",
                "Warning",
                "--output",
                "json",
                "--end-with-input",
            ]
        );
        try
        {
            await process.ReadLineAsync(cancellationToken);
        }
        catch
        {
            await process.DisposeAsync();
            throw;
        }
        _process = process;
    }

    /// <summary>kill -9.</summary>
    public async Task KillAsync()
    {
        if (_process is not { } process)
            return;
        _process = null;
        await process.KillAsync();
        await process.DisposeAsync();
    }

    /// <summary>Stops it as its service does: it hands over what it leads.</summary>
    public async Task StopAsync()
    {
        if (_process is not { } process)
            return;
        _process = null;
        await process.DisposeAsync();
    }

    /// <summary>It stands still for so long.</summary>
    public async Task PauseAsync(TimeSpan time)
    {
        if (_process is not { } process)
            return;
        ProcessSignal.StopProcess(process.Id);
        try
        {
            await Task.Delay(time);
        }
        finally
        {
            ProcessSignal.ContinueProcess(process.Id);
        }
    }

    public async ValueTask DisposeAsync() => await StopAsync();

    private static string Text(int port) => port.ToString(CultureInfo.InvariantCulture);

    private string Address(int port) => $"127.0.0.1:{Text(_ports[port])}";
}
