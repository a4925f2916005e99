using System.Diagnostics;
using System.Text.Json;
using Xunit;

namespace LightQ.IntegrationTests.Cli;

/// <summary><c>lightq server</c> in a process of its own.</summary>
internal sealed class ToolServer : IAsyncDisposable
{
    private readonly Process _process;

    private ToolServer(Process process, JsonElement ports, TimeSpan startTime)
    {
        (_process, StartTime) = (process, startTime);
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

    /// <summary>From the start of the process until it takes connections.</summary>
    public TimeSpan StartTime { get; }

    public static Task<ToolServer> StartAsync(string directory, params string[] more) =>
        StartWithAsync([], directory, more);

    /// <summary>Starts it with variables in its environment.</summary>
    public static async Task<ToolServer> StartWithAsync(
        IEnumerable<(string Name, string Value)> environment,
        string directory,
        params string[] more
    )
    {
        long begun = Stopwatch.GetTimestamp();
        Process process = LightQTool.StartWith(
            environment,
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
        TimeSpan taken = Stopwatch.GetElapsedTime(begun);
        if (line is null)
            Assert.Fail(await process.StandardError.ReadToEndAsync(TestContext.Current.CancellationToken));
        return new ToolServer(process, JsonDocument.Parse(line).RootElement, taken);
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
