using System.Diagnostics;
using System.Text.Json;

namespace LightQ.Bench.Processes;

/// <summary>A broker of our own: a child process on free ports, with a data directory that goes with it.</summary>
internal sealed class EmbeddedBroker : IAsyncDisposable
{
    private readonly string _directory;
    private readonly BenchCertificate? _certificate;
    private ChildProcess? _process;

    private EmbeddedBroker(string directory, BenchCertificate? certificate)
    {
        _directory = directory;
        _certificate = certificate;
    }

    public string ConnectionString { get; private set; } = "";

    /// <summary>How long the process took to be ready.</summary>
    public TimeSpan Ready { get; private set; }

    /// <summary>What it has used so far.</summary>
    public ProcessUsage Usage => _process!.Usage;

    /// <param name="parentDirectory">Where its data directory is made; null for the temporary directory.</param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <param name="settings">Its configuration file.</param>
    /// <param name="certificate">What it shows; null for no TLS.</param>
    public static async Task<EmbeddedBroker> StartAsync(
        string? parentDirectory,
        CancellationToken cancellationToken,
        string settings = "{}",
        BenchCertificate? certificate = null
    )
    {
        string directory = Directory
            .CreateDirectory(Path.Combine(parentDirectory ?? Path.GetTempPath(), $"lightq-bench-{Guid.NewGuid():N}"))
            .FullName;
        // The user's own configuration file and variables are for the user's own broker.
        await File.WriteAllTextAsync(SettingsOf(directory), settings, cancellationToken);
        var broker = new EmbeddedBroker(directory, certificate);
        try
        {
            await broker.StartAsync(cancellationToken);
            return broker;
        }
        catch
        {
            await broker.DisposeAsync();
            throw;
        }
    }

    /// <summary>Kills it and starts it again on what it left; its ports are others then.</summary>
    public async Task CrashAsync(CancellationToken cancellationToken)
    {
        await _process!.KillAsync();
        await _process.DisposeAsync();
        await StartAsync(cancellationToken);
    }

    /// <summary>Waits for something, but not longer than the broker lives.</summary>
    public Task WhileAliveAsync(Task work) => _process!.WhileAliveAsync(work);

    public async ValueTask DisposeAsync()
    {
        if (_process is not null)
            await _process.DisposeAsync();
        if (Directory.Exists(_directory))
            Directory.Delete(_directory, recursive: true);
    }

    private async Task StartAsync(CancellationToken cancellationToken)
    {
        var watch = Stopwatch.StartNew();
        _process = ChildProcess.Start(
            "broker",
            [
                "server",
                "--data",
                Path.Combine(_directory, "data"),
                "--data-port",
                "0",
                "--control-port",
                "0",
                "--web-port",
                "0",
                "--bind",
                "127.0.0.1",
                "--require-auth",
                "false",
                "--config",
                SettingsOf(_directory),
                "--output",
                "json",
                "--end-with-input",
                .. _certificate is null
                    ? Array.Empty<string>()
                    : ["--tls-cert", _certificate.CertificateFile, "--tls-key", _certificate.KeyFile],
            ]
        );
        string line = await _process.ReadLineAsync(cancellationToken);
        Ready = watch.Elapsed;
        using JsonDocument ports = JsonDocument.Parse(line);
        ConnectionString = ports.RootElement.GetProperty("connection_string").GetString()!;
    }

    private static string SettingsOf(string directory) => Path.Combine(directory, "settings.json");
}
