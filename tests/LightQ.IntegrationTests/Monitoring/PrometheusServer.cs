using System.Diagnostics;
using System.Globalization;
using System.Text.Json;
using LightQ.IntegrationTests.Docs;
using Xunit;

namespace LightQ.IntegrationTests.Monitoring;

/// <summary>A real Prometheus that scrapes one broker and has the rules of packaging/monitoring.</summary>
internal sealed class PrometheusServer : IAsyncDisposable
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    private readonly TemporaryDirectory _directory;
    private readonly Process _process;
    private readonly HttpClient _http;

    private PrometheusServer(TemporaryDirectory directory, Process process, int port)
    {
        (_directory, _process) = (directory, process);
        _http = new HttpClient { BaseAddress = new Uri($"http://127.0.0.1:{port}") };
    }

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    /// <summary>Starts it, or skips the test where it is not installed.</summary>
    /// <param name="target">Address and web port of the broker.</param>
    public static async Task<PrometheusServer> StartAsync(string target)
    {
        string program = InstalledProgram.Require("prometheus");
        var directory = new TemporaryDirectory();
        int port = FreePorts.Find(1);
        await File.WriteAllTextAsync(
            directory.File("prometheus.yml"),
            $"""
            global:
              scrape_interval: 1s
              evaluation_interval: 1s
            scrape_configs:
              - job_name: lightq
                static_configs:
                  - targets: ["{target}"]
            rule_files:
              - "{SourceTree.PathOf(MonitoringFiles.Rules)}"

            """,
            Cancelled
        );
        var start = new ProcessStartInfo(
            program,
            [
                $"--config.file={directory.File("prometheus.yml")}",
                $"--storage.tsdb.path={directory.File("data")}",
                string.Create(CultureInfo.InvariantCulture, $"--web.listen-address=127.0.0.1:{port}"),
                "--log.level=error",
            ]
        );
        var server = new PrometheusServer(directory, Process.Start(start)!, port);
        try
        {
            await Eventually.TrueAsync(server.IsReadyAsync, Patience, () => "Prometheus does not become ready");
            await Eventually.TrueAsync(
                async () => (await server.QueryAsync("up{job=\"lightq\"} == 1")).Length == 1,
                Patience,
                () => "Prometheus does not scrape the broker"
            );
            return server;
        }
        catch
        {
            await server.DisposeAsync();
            throw;
        }
    }

    /// <summary>Evaluates an expression now.</summary>
    /// <returns>The values of the series that it gives.</returns>
    public async Task<double[]> QueryAsync(string expression)
    {
        using HttpResponseMessage response = await _http.GetAsync(
            $"/api/v1/query?query={Uri.EscapeDataString(expression)}",
            Cancelled
        );
        string text = await response.Content.ReadAsStringAsync(Cancelled);
        Assert.True(response.IsSuccessStatusCode, $"{expression}: {text}");
        JsonElement answer = JsonDocument.Parse(text).RootElement;
        Assert.Equal("success", answer.GetProperty("status").GetString());
        JsonElement data = answer.GetProperty("data");
        Assert.Equal("vector", data.GetProperty("resultType").GetString());
        return
        [
            .. data.GetProperty("result")
                .EnumerateArray()
                .Select(r => double.Parse(r.GetProperty("value")[1].GetString()!, CultureInfo.InvariantCulture)),
        ];
    }

    /// <summary>The rules that were loaded: names, with the error of the last evaluation or nothing.</summary>
    public async Task<(string Name, string State, string Error)[]> RulesAsync()
    {
        JsonElement answer = JsonDocument
            .Parse(await _http.GetStringAsync(new Uri("/api/v1/rules", UriKind.Relative), Cancelled))
            .RootElement;
        return
        [
            .. answer
                .GetProperty("data")
                .GetProperty("groups")
                .EnumerateArray()
                .SelectMany(g => g.GetProperty("rules").EnumerateArray())
                .Select(r =>
                    (
                        r.GetProperty("name").GetString()!,
                        r.GetProperty("state").GetString()!,
                        r.TryGetProperty("lastError", out JsonElement error) ? error.GetString()! : ""
                    )
                ),
        ];
    }

    public async ValueTask DisposeAsync()
    {
        _http.Dispose();
        if (!_process.HasExited)
            _process.Kill(entireProcessTree: true);
        await _process.WaitForExitAsync(CancellationToken.None);
        _process.Dispose();
        _directory.Dispose();
    }

    private async Task<bool> IsReadyAsync()
    {
        Assert.False(_process.HasExited, "Prometheus has ended.");
        try
        {
            using HttpResponseMessage response = await _http.GetAsync(new Uri("/-/ready", UriKind.Relative), Cancelled);
            return response.IsSuccessStatusCode;
        }
        catch (HttpRequestException)
        {
            return false; // It does not listen yet.
        }
    }
}
