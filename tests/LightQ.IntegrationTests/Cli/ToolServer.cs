using System.Diagnostics;
using System.Text.Json;
using Xunit;

namespace LightQ.IntegrationTests.Cli;

/// <summary><c>lightq server</c> in a process of its own.</summary>
internal sealed class ToolServer : IAsyncDisposable
{
    private readonly Process _process;

    private ToolServer(Process process, JsonElement ports)
    {
        _process = process;
        DataPort = ports.GetProperty("data_port").GetInt32();
        ControlPort = ports.GetProperty("control_port").GetInt32();
        WebPort = ports.GetProperty("web_port").GetInt32();
        Url = ports.GetProperty("connection_string").GetString()!;
        RemoteUrls = ports.TryGetProperty("remote_connection_strings", out JsonElement remote)
            ? [.. remote.EnumerateArray().Select(r => r.GetString()!)]
            : [];
    }

    public int DataPort { get; }

    public int ControlPort { get; }

    public int WebPort { get; }

    /// <summary>What <c>--server</c> takes.</summary>
    public string Url { get; }

    /// <summary>What it takes on other machines.</summary>
    public string[] RemoteUrls { get; }

    public Process Process => _process;

    public static async Task<ToolServer> StartAsync(string directory, params string[] more)
    {
        Process process = LightQTool.Start(
            null,
            [
                "server",
                "--data",
                directory,
                "--data-port",
                "0",
                "--control-port",
                "0",
                "--web-port",
                "0",
                "--output",
                "json",
                .. more,
            ]
        );
        string? line = await process.StandardOutput.ReadLineAsync(TestContext.Current.CancellationToken);
        if (line is null)
            Assert.Fail(await process.StandardError.ReadToEndAsync(TestContext.Current.CancellationToken));
        return new ToolServer(process, JsonDocument.Parse(line).RootElement);
    }

    /// <summary>Sends a signal and waits for the end.</summary>
    /// <returns>The exit code.</returns>
    public async Task<int> SignalAsync(string signal)
    {
        using (
            Process kill = Process.Start(
                "kill",
                [$"-{signal}", _process.Id.ToString(System.Globalization.CultureInfo.InvariantCulture)]
            )
        )
        {
            await LightQTool.EndAsync(kill);
        }

        await LightQTool.EndAsync(_process);
        return _process.ExitCode;
    }

    public async ValueTask DisposeAsync()
    {
        if (!_process.HasExited)
            _process.Kill(entireProcessTree: true);
        await _process.WaitForExitAsync(CancellationToken.None);
        _process.Dispose();
    }
}
