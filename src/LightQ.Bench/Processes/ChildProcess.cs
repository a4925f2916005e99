using System.Diagnostics;

namespace LightQ.Bench.Processes;

/// <summary>
/// A child that runs this same tool. Ends with its parent: its standard input ends then, and disposing kills it.
/// </summary>
internal sealed class ChildProcess : IAsyncDisposable
{
    /// <summary>What <c>dotnet</c> runs, beside this assembly; a native program needs none.</summary>
    private const string ToolAssembly = "lightq.dll";

    private static readonly TimeSpan GracePeriod = TimeSpan.FromSeconds(5);

    private readonly Process _process;
    private readonly string _name;
    private readonly Task<string> _errors;
    private bool _isEnding;

    private ChildProcess(Process process, string name)
    {
        _process = process;
        _name = name;
        _errors = process.StartInfo.RedirectStandardError
            ? process.StandardError.ReadToEndAsync()
            : Task.FromResult("");
    }

    public int Id => _process.Id;

    /// <summary>CPU time and memory so far; the process must be alive.</summary>
    public ProcessUsage Usage => ProcessUsage.Of(Id);

    /// <summary>Starts the tool with other arguments.</summary>
    /// <param name="name">What errors call it.</param>
    /// <param name="arguments">Its arguments.</param>
    /// <param name="showErrors">
    /// Whether its standard error is this process's own, so that its last words are seen even when this process is
    /// gone.
    /// </param>
    public static ChildProcess Start(string name, IEnumerable<string> arguments, bool showErrors = false)
    {
        string host = Environment.ProcessPath ?? "dotnet";
        bool isMuxer = Path.GetFileNameWithoutExtension(host) == "dotnet";
        var start = new ProcessStartInfo(
            host,
            isMuxer ? arguments.Prepend(Path.Combine(AppContext.BaseDirectory, ToolAssembly)) : arguments
        )
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = !showErrors,
        };
        Process process =
            Process.Start(start) ?? throw new BenchException(BenchFailure.Failed, $"The {name} process did not start.");
        return new ChildProcess(process, name);
    }

    /// <summary>Writes a line to its standard input.</summary>
    public async Task SendAsync(string line)
    {
        try
        {
            await _process.StandardInput.WriteLineAsync(line);
            await _process.StandardInput.FlushAsync();
        }
        catch (IOException)
        {
            throw await ExplainEndAsync();
        }
    }

    /// <summary>Reads the next line of its standard output.</summary>
    /// <exception cref="BenchException">The child ended instead.</exception>
    public async Task<string> ReadLineAsync(CancellationToken cancellationToken) =>
        await _process.StandardOutput.ReadLineAsync(cancellationToken) ?? throw await ExplainEndAsync();

    /// <summary>Waits for something, but not longer than this child lives.</summary>
    /// <exception cref="BenchException">The child ended.</exception>
    public async Task WhileAliveAsync(Task work)
    {
        using var enough = new CancellationTokenSource();
        Task ended = _process.WaitForExitAsync(enough.Token);
        if (await Task.WhenAny(work, ended) == ended)
            throw await ExplainEndAsync();
        await enough.CancelAsync();
        await work;
    }

    /// <summary>Ends it without a word, as a crash does.</summary>
    public async Task KillAsync()
    {
        _process.Kill();
        await _process.WaitForExitAsync();
    }

    public async ValueTask DisposeAsync()
    {
        if (_isEnding)
            return;
        _isEnding = true;
        try
        {
            _process.StandardInput.Close();
        }
        catch (IOException)
        {
            // It ended before it had read everything.
        }
        using var grace = new CancellationTokenSource(GracePeriod);
        await _process.WaitForExitAsync(grace.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        if (!_process.HasExited)
            _process.Kill(entireProcessTree: true);
        _process.Dispose();
    }

    private async Task<BenchException> ExplainEndAsync()
    {
        await _process.WaitForExitAsync();
        string errors = await _errors;
        string last = errors.TrimEnd().Split('\n')[^1].Trim();
        string why = last.Length == 0 ? "without a message" : $"saying: {last}";
        return new BenchException(
            BenchFailure.Failed,
            $"The {_name} process ended unexpectedly with code {_process.ExitCode}, {why}"
        );
    }
}
