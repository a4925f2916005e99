using System.Diagnostics;
using System.Globalization;
using System.Text;
using Xunit;

namespace LightQ.IntegrationTests.Faults;

/// <summary>
/// While it lives, system calls of a running process on certain files are answered with an error and not made: by
/// <c>strace</c>, which may be attached to a process once at a time.
/// </summary>
internal sealed class SystemCallFault : IAsyncDisposable
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(20);

    private readonly Process _strace;
    private readonly StringBuilder _said;
    private readonly TemporaryDirectory _traces;
    private string[]? _injected;

    private SystemCallFault(Process strace, StringBuilder said, TemporaryDirectory traces) =>
        (_strace, _said, _traces) = (strace, said, traces);

    /// <summary>What strace itself has said.</summary>
    public string Said
    {
        get
        {
            lock (_said)
                return _said.ToString();
        }
    }

    /// <summary>The calls that were answered with an error so far, as strace prints them.</summary>
    public IReadOnlyList<string> Injected =>
        _injected
        ??
        [
            .. Directory
                .GetFiles(_traces.Path)
                .SelectMany(File.ReadLines)
                .Where(l => l.Contains("(INJECTED)", StringComparison.Ordinal)),
        ];

    /// <summary>Skips the test where strace is missing or may not attach to a process.</summary>
    public static async Task RequireAsync()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "strace is for Linux.");
        Assert.SkipUnless(LoopFileSystem.Exists("strace"), "strace is not installed.");
        using Process sleeping = Process.Start("sleep", "60");
        try
        {
            await using SystemCallFault _ = await InjectAsync(sleeping.Id, ["/"], ["fsync:error=EIO"]);
        }
        catch (InvalidOperationException e)
        {
            Assert.Skip($"strace may not trace a process: {e.Message}");
        }
        finally
        {
            sleeping.Kill();
        }
    }

    /// <summary>Attaches to a process, all its threads, and those it will make.</summary>
    /// <param name="processId">The process.</param>
    /// <param name="paths">Calls on these files are concerned, by name or descriptor; a file need not exist.</param>
    /// <param name="injections">
    /// Which calls and what they say, as strace's <c>inject=</c> has it; counts are of one thread.
    /// </param>
    /// <exception cref="InvalidOperationException">It may not, with what strace said.</exception>
    public static async Task<SystemCallFault> InjectAsync(
        int processId,
        IEnumerable<string> paths,
        IReadOnlyList<string> injections
    )
    {
        var traces = new TemporaryDirectory();
        string calls = string.Join(',', injections.Select(i => i[..i.IndexOf(':', StringComparison.Ordinal)]));
        // A file for each thread: in one, the line of a call is parted by those of others.
        List<string> arguments =
        [
            "-ff",
            "-y",
            "-p",
            processId.ToString(CultureInfo.InvariantCulture),
            "-o",
            traces.File("thread"),
            "-e",
            $"trace={calls}",
        ];
        foreach (string injection in injections)
            arguments.AddRange(["-e", $"inject={injection}"]);
        foreach (string path in paths)
            arguments.AddRange(["-P", path]);
        Process strace = Process.Start(new ProcessStartInfo("strace", arguments) { RedirectStandardError = true })!;
        var said = new StringBuilder();
        var fault = new SystemCallFault(strace, said, traces);
        var attached = new TaskCompletionSource<bool>(TaskCreationOptions.RunContinuationsAsynchronously);
        strace.ErrorDataReceived += (_, line) =>
        {
            lock (said)
                said.AppendLine(line.Data);
            if (line.Data is null || line.Data.Contains(" attached", StringComparison.Ordinal))
                attached.TrySetResult(line.Data is not null);
        };
        strace.BeginErrorReadLine();
        if (await attached.Task.WaitAsync(Patience, TestContext.Current.CancellationToken))
            return fault;
        await fault.DisposeAsync();
        throw new InvalidOperationException(fault.Said.Trim());
    }

    /// <summary>Detaches; the process goes on with a system that works.</summary>
    public async ValueTask DisposeAsync()
    {
        if (_injected is not null)
            return;
        if (!_strace.HasExited)
        {
            // It may be gone with the process that it traces.
            using Process interrupt = Process.Start(
                new ProcessStartInfo("kill", ["-INT", _strace.Id.ToString(CultureInfo.InvariantCulture)])
                {
                    RedirectStandardError = true,
                }
            )!;
            await interrupt.WaitForExitAsync(CancellationToken.None);
        }
        await _strace.WaitForExitAsync(CancellationToken.None).WaitAsync(Patience, CancellationToken.None);
        _strace.Dispose();
        _injected = [.. Injected];
        _traces.Dispose();
    }
}
