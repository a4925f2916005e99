using System.Diagnostics;
using System.Globalization;
using Xunit;

namespace LightQ.IntegrationTests.Faults;

/// <summary>
/// Attackers of a broker: one explicit test of this assembly, run in a process of its own that gets a processor only
/// when nobody else wants it. A broker's attackers run elsewhere, these share its processors.
/// </summary>
/// <remarks>Test and process talk in lines: words to the process, numbers from it.</remarks>
internal sealed class AttackProcess : IDisposable
{
    private const string Mark = "attack: ",
        Variable = "LIGHTQ_ATTACK";
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    private readonly Process _process;

    private AttackProcess(Process process) => _process = process;

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    /// <summary>In the process: the numbers it was started with. Skips the test that was not started as one.</summary>
    public static int[] Arguments
    {
        get
        {
            string? arguments = Environment.GetEnvironmentVariable(Variable);
            Assert.SkipUnless(arguments is not null, "It is a part of another test, in a process of its own.");
            return Numbers(arguments!);
        }
    }

    /// <summary>Skips the running test where such a process cannot be started.</summary>
    public static void Require()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "It looks into /proc and sets scheduling policies.");
        Assert.SkipUnless(LoopFileSystem.Exists("chrt"), "chrt (util-linux) is not installed.");
    }

    /// <summary>Starts the process and waits until it has said that it could begin.</summary>
    /// <param name="attack">The class whose test it is.</param>
    /// <param name="method">The test.</param>
    /// <param name="arguments">What it is to know.</param>
    public static async Task<AttackProcess> StartAsync(Type attack, string method, params int[] arguments)
    {
        var start = new ProcessStartInfo(
            "chrt",
            [
                "--idle",
                "0",
                "dotnet",
                attack.Assembly.Location,
                "-noColor",
                "-explicit",
                "only",
                "-method",
                $"{attack.FullName}.{method}",
            ]
        )
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
        };
        start.Environment["DOTNET_EnableDiagnostics"] = "0";
        start.Environment[Variable] = Text(arguments);
        var process = new AttackProcess(Process.Start(start)!);
        await process.HearAsync();
        return process;
    }

    /// <summary>In the process: tells the test, between the lines of the runner.</summary>
    public static void Say(params int[] numbers) => Console.WriteLine(Mark + Text(numbers));

    /// <summary>Tells the process.</summary>
    public Task TellAsync(string line) => _process.StandardInput.WriteLineAsync(line);

    /// <summary>Waits for what the process says next.</summary>
    public async Task<int[]> HearAsync()
    {
        using var patience = CancellationTokenSource.CreateLinkedTokenSource(Cancel);
        patience.CancelAfter(Patience);
        List<string> heard = [];
        try
        {
            while (await _process.StandardOutput.ReadLineAsync(patience.Token) is { } line)
            {
                heard.Add(line);
                int mark = line.IndexOf(Mark, StringComparison.Ordinal); // The runner's colours may be in front.
                if (mark >= 0)
                    return Numbers(line[(mark + Mark.Length)..]);
            }
        }
        catch (OperationCanceledException) when (!Cancel.IsCancellationRequested)
        {
            heard.Add($"It said nothing more for {Patience.TotalSeconds} s.");
        }
        throw new InvalidOperationException($"The attack ended:\n{string.Join('\n', heard)}");
    }

    public void Dispose()
    {
        if (!_process.HasExited)
            _process.Kill();
        _process.Dispose();
    }

    private static string Text(int[] numbers) =>
        string.Join(' ', numbers.Select(n => n.ToString(CultureInfo.InvariantCulture)));

    private static int[] Numbers(string text) =>
        [.. text.Split(' ').Select(n => int.Parse(n, CultureInfo.InvariantCulture))];
}
