using System.Text.Json;
using LightQ.Cli.Hosting;
using LightQ.Cli.Output;

namespace LightQ.Cli.Bench;

/// <summary>A broker of our own: a child process on free ports, with a data directory that goes with it.</summary>
internal sealed class EmbeddedBroker : IAsyncDisposable
{
    private readonly ChildProcess _process;
    private readonly string _directory;

    private EmbeddedBroker(ChildProcess process, string directory, string connectionString)
    {
        _process = process;
        _directory = directory;
        ConnectionString = connectionString;
    }

    public string ConnectionString { get; }

    /// <summary>What it has used so far.</summary>
    public ProcessUsage Usage => _process.Usage;

    /// <param name="parentDirectory">Where its data directory is made; null for the temporary directory.</param>
    /// <param name="cancellationToken">Gives up.</param>
    public static async Task<EmbeddedBroker> StartAsync(string? parentDirectory, CancellationToken cancellationToken)
    {
        string directory = Directory.CreateDirectory(Path.Combine(parentDirectory ?? Path.GetTempPath(), $"lightq-bench-{Guid.NewGuid():N}")).FullName;
        // The user's own configuration file and variables are for the user's own broker.
        string settings = Path.Combine(directory, "settings.json");
        await File.WriteAllTextAsync(settings, "{}", cancellationToken);
        ChildProcess process = ChildProcess.Start(
            "broker",
            [
                "server", "--data", Path.Combine(directory, "data"), "--data-port", "0", "--control-port", "0", "--web-port", "0",
                "--bind", "127.0.0.1", "--require-auth", "false", "--config", settings, "--output", "json", "--end-with-input",
            ]);
        try
        {
            string line = await process.ReadLineAsync(cancellationToken);
            ServerPorts ports = JsonSerializer.Deserialize(line, CliJson.Default.ServerPorts)!;
            return new EmbeddedBroker(process, directory, ports.ConnectionString);
        }
        catch
        {
            await process.DisposeAsync();
            Directory.Delete(directory, recursive: true);
            throw;
        }
    }

    /// <summary>Waits for something, but not longer than the broker lives.</summary>
    public Task WhileAliveAsync(Task work) => _process.WhileAliveAsync(work);

    public async ValueTask DisposeAsync()
    {
        await _process.DisposeAsync();
        if (Directory.Exists(_directory))
            Directory.Delete(_directory, recursive: true);
    }
}
