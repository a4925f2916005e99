using System.Collections.Concurrent;
using System.Diagnostics;
using System.Globalization;
using System.Text.Json;
using LightQ.IntegrationTests.Grpc;
using Xunit;

namespace LightQ.IntegrationTests.Faults;

/// <summary>
/// A producer, attackers and a judge in a process of their own: <c>tests/python-client/judge.py</c>, a client that
/// shares no line with this project.
/// </summary>
internal sealed class OutsideJudge : IDisposable
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(90);

    private readonly ConcurrentQueue<string> _errors = new();
    private readonly Process _process;

    /// <param name="port">The broker's data port.</param>
    /// <param name="topic">What it publishes to, and the attackers too.</param>
    /// <param name="bait">Another topic, whose dead letters go there.</param>
    /// <param name="partitions">The topic's.</param>
    /// <param name="seed">What everything random in it follows from.</param>
    /// <param name="attacks">Which ones.</param>
    public OutsideJudge(int port, string topic, string bait, int partitions, int seed, string attacks)
    {
        string[] arguments =
        [
            "-B",
            Path.Combine(Folder, "judge.py"),
            "--port",
            Text(port),
            "--topic",
            topic,
            "--bait",
            bait,
            "--partitions",
            Text(partitions),
            "--seed",
            Text(seed),
            "--attacks",
            attacks,
        ];
        var start = new ProcessStartInfo(StockClient.Python, arguments)
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        _process = Process.Start(start)!;
        _process.ErrorDataReceived += (_, line) => _errors.Enqueue(line.Data ?? "");
        _process.BeginErrorReadLine();
    }

    /// <summary>Where the client is.</summary>
    public static string Folder { get; } = Path.Combine(StockClient.SourceTree, "tests", "python-client");

    /// <summary>Skips the test where Python is missing or too old.</summary>
    public static async Task RequireAsync() =>
        Assert.SkipUnless(
            await StockClient.WorksAsync(StockClient.Python, "-c", "import sys; sys.exit(sys.version_info < (3, 9))"),
            $"There is no Python 3.9 or later ({StockClient.Python})."
        );

    /// <summary>Tells it what to do.</summary>
    public Task TellAsync(string command) => _process.StandardInput.WriteLineAsync(command);

    /// <summary>Waits for what it says next.</summary>
    public async Task<JsonElement> HearAsync()
    {
        using var patience = CancellationTokenSource.CreateLinkedTokenSource(TestContext.Current.CancellationToken);
        patience.CancelAfter(Patience);
        string? line = await _process.StandardOutput.ReadLineAsync(patience.Token);
        return line is null
            ? throw new InvalidOperationException($"The judge has ended:\n{string.Join('\n', _errors)}")
            : JsonSerializer.Deserialize<JsonElement>(line);
    }

    public void Dispose()
    {
        _process.StandardInput.Close();
        if (!_process.WaitForExit(TimeSpan.FromSeconds(5)))
            _process.Kill();
        _process.Dispose();
    }

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);
}
