using System.Diagnostics;
using System.Reflection;
using LightQ.Cli.Output;

namespace LightQ.Cli.Hosting;

/// <summary>A child that runs this same tool. Ends with its parent: its standard input ends then, and disposing kills it.</summary>
internal sealed class ChildProcess : IAsyncDisposable
{
    private static readonly TimeSpan GracePeriod = TimeSpan.FromSeconds(5);

    private readonly Process _process;
    private readonly string _name;
    private readonly Task<string> _errors;
    private bool _isEnding;

    private ChildProcess(Process process, string name)
    {
        _process = process;
        _name = name;
        _errors = process.StandardError.ReadToEndAsync();
    }

    public int Id => _process.Id;

    /// <summary>CPU time and memory so far; the process must be alive.</summary>
    public ProcessUsage Usage => ProcessUsage.Of(Id);

    /// <summary>Starts the tool with other arguments.</summary>
    /// <param name="name">What errors call it.</param>
    /// <param name="arguments">Its arguments.</param>
    /// <param name="environment">Variables to set.</param>
    public static ChildProcess Start(string name, IEnumerable<string> arguments, params ReadOnlySpan<(string Name, string Value)> environment)
    {
        string host = Environment.ProcessPath ?? "dotnet";
        bool isMuxer = Path.GetFileNameWithoutExtension(host) == "dotnet";
        return Start(name, host, isMuxer ? arguments.Prepend(Assembly.GetExecutingAssembly().Location) : arguments, environment);
    }

    /// <summary>Starts another program.</summary>
    public static ChildProcess Start(string name, string program, IEnumerable<string> arguments, params ReadOnlySpan<(string Name, string Value)> environment)
    {
        var start = new ProcessStartInfo(program, arguments)
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        foreach ((string variable, string value) in environment)
            start.Environment.TryAdd(variable, value);
        Process process = Process.Start(start) ?? throw new CommandException(ExitCode.Failed, $"The {name} process did not start.");
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
    /// <exception cref="CommandException">The child ended instead.</exception>
    public async Task<string> ReadLineAsync(CancellationToken cancellationToken) =>
        await _process.StandardOutput.ReadLineAsync(cancellationToken) ?? throw await ExplainEndAsync();

    /// <summary>Waits for something, but not longer than this child lives.</summary>
    /// <exception cref="CommandException">The child ended.</exception>
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
        _process.StandardInput.Close();
        using var grace = new CancellationTokenSource(GracePeriod);
        await _process.WaitForExitAsync(grace.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        if (!_process.HasExited)
            _process.Kill(entireProcessTree: true);
        _process.Dispose();
    }

    private async Task<CommandException> ExplainEndAsync()
    {
        await _process.WaitForExitAsync();
        string errors = await _errors;
        string last = errors.TrimEnd().Split('\n')[^1].Trim();
        string why = last.Length == 0 ? "without a word" : $"saying: {last}";
        return new CommandException(ExitCode.Failed, $"The {_name} process ended unexpectedly with code {_process.ExitCode}, {why}");
    }
}
