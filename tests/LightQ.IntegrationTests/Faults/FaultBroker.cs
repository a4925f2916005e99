using System.Collections.Concurrent;
using System.Diagnostics;
using System.Globalization;
using System.Text.RegularExpressions;
using LightQ.Client;
using LightQ.IntegrationTests.Cli;
using LightQ.Server.Security;
using Xunit;

namespace LightQ.IntegrationTests.Faults;

/// <summary>
/// <c>lightq server</c> as a child process that is killed and started again: always on the same ports, so that clients
/// find it again.
/// </summary>
/// <param name="directory">The data directory.</param>
/// <param name="firstPort">The first of its three ports.</param>
/// <param name="settings">Its settings.</param>
internal sealed partial class FaultBroker(string directory, int firstPort, params (string Key, string Value)[] settings)
    : IAsyncDisposable
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    private readonly int _port = firstPort;
    private readonly ConcurrentQueue<string> _log = new();
    private Process? _process;

    public FaultBroker(string directory, params (string Key, string Value)[] settings)
        : this(directory, FindPorts(), settings) { }

    /// <summary>The data directory.</summary>
    public string Directory { get; } = directory;

    public int DataPort => _port;

    public int ControlPort => _port + 1;

    public int WebPort => _port + 2;

    /// <summary>Variables in its environment, besides its settings.</summary>
    public IEnumerable<(string Name, string Value)> Variables { get; init; } = [];

    /// <summary>How many descriptors it may have; null for as many as this process.</summary>
    public int? Descriptors { get; init; }

    public int ProcessId => _process!.Id;

    /// <summary>What the broker of the last start wrote to standard error.</summary>
    public string Log => string.Join('\n', _log);

    /// <summary>The same by line.</summary>
    public IReadOnlyCollection<string> LogLines => _log;

    /// <summary>From the start of the process until it says that it is ready.</summary>
    public TimeSpan Ready { get; private set; }

    /// <summary>
    /// The part of it that the broker itself counts: recovery and listening, without the runtime's start.
    /// </summary>
    public TimeSpan Opened { get; private set; }

    /// <summary>The password of the user admin.</summary>
    public string AdminPassword => File.ReadAllText(Path.Combine(Directory, "admin-password"));

    private LightQClientOptions Options =>
        new()
        {
            DataPort = _port,
            ControlPort = _port + 1,
            ReconnectDelay = TimeSpan.FromMilliseconds(5),
            MaxReconnectDelay = TimeSpan.FromMilliseconds(50),
        };

    /// <summary>The first of three ports in a row: for the data plane, the control plane and the web.</summary>
    public static int FindPorts() => FreePorts.Find(3);

    /// <summary>A client that comes back at once.</summary>
    public LightQClient Connect() => new(Options);

    /// <summary>One that may do everything, also where others have to log in.</summary>
    public LightQClient ConnectAsAdmin() => new(Options with { User = Authenticator.Admin, Password = AdminPassword });

    /// <summary>Starts it and waits until it is ready.</summary>
    /// <param name="before">Called with the process before it does anything; null for nothing.</param>
    public async Task StartAsync(Func<int, Task>? before = null)
    {
        var watch = Stopwatch.StartNew();
        Process process = Launch(isHeld: before is not null);
        if (before is not null)
        {
            await Eventually.TrueAsync(
                () => File.ReadAllText($"/proc/{Text(process.Id)}/stat").Contains(") T ", StringComparison.Ordinal),
                Patience,
                () => "The process does not wait."
            );
            await before(process.Id);
            await SignalAsync(process, "CONT");
        }
        Task<string?> announced = process.StandardOutput.ReadLineAsync(TestContext.Current.CancellationToken).AsTask();
        string? line = await announced.WaitAsync(Patience, TestContext.Current.CancellationToken);
        Ready = watch.Elapsed;
        if (line is null)
        {
            await process.WaitForExitAsync(TestContext.Current.CancellationToken);
            Assert.Fail($"The broker did not start:\n{Log}");
        }
        await Eventually.TrueAsync(
            () => StartedIn().IsMatch(Log),
            Patience,
            () => $"The broker does not say how long it took:\n{Log}"
        );
        Opened = TimeSpan.FromMilliseconds(
            int.Parse(StartedIn().Match(Log).Groups[1].ValueSpan, CultureInfo.InvariantCulture)
        );
    }

    /// <summary>Starts it and does not wait: for a crash before or while it recovers.</summary>
    public void Begin() => Launch();

    /// <summary>Waits for its end, from whatever cause.</summary>
    /// <returns>False when it has not ended by then.</returns>
    public async Task<bool> EndsAsync(TimeSpan patience)
    {
        using var timeout = CancellationTokenSource.CreateLinkedTokenSource(TestContext.Current.CancellationToken);
        timeout.CancelAfter(patience);
        try
        {
            await _process!.WaitForExitAsync(timeout.Token);
            return true;
        }
        catch (OperationCanceledException) when (!TestContext.Current.CancellationToken.IsCancellationRequested)
        {
            return false;
        }
    }

    /// <summary>kill -9.</summary>
    public async Task KillAsync()
    {
        _process!.Kill();
        await LightQTool.EndAsync(_process);
    }

    /// <summary>SIGTERM.</summary>
    /// <returns>The exit code, and how long it took to end.</returns>
    public async Task<(int ExitCode, TimeSpan Took)> TerminateAsync()
    {
        var watch = Stopwatch.StartNew();
        await SignalAsync(_process!, "TERM");
        await LightQTool.EndAsync(_process!);
        return (_process!.ExitCode, watch.Elapsed);
    }

    /// <summary>Sends it a signal, by its name without SIG.</summary>
    public Task SignalAsync(string signal) => SignalAsync(_process!, signal);

    public async ValueTask DisposeAsync()
    {
        if (_process is not { } process)
            return;
        if (!process.HasExited)
            process.Kill();
        await process.WaitForExitAsync(CancellationToken.None);
        process.Dispose();
        _process = null;
    }

    private static async Task SignalAsync(Process process, string signal)
    {
        using Process kill = Process.Start("kill", [$"-{signal}", Text(process.Id)]);
        await LightQTool.EndAsync(kill);
    }

    private Process Launch(bool isHeld = false)
    {
        _process?.Dispose();
        _log.Clear();
        Process process = LightQTool.Start(
            Variables,
            settings,
            Descriptors,
            isHeld,
            "server",
            "--data",
            Directory,
            "--data-port",
            Text(_port),
            "--control-port",
            Text(_port + 1),
            "--web-port",
            Text(_port + 2),
            "--output",
            "json",
            "--log-level",
            "Information"
        );
        process.ErrorDataReceived += (_, line) => _log.Enqueue(line.Data ?? "");
        process.BeginErrorReadLine();
        return _process = process;
    }

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);

    [GeneratedRegex(@"started in (\d+) ms")]
    private static partial Regex StartedIn();
}
