using System.Diagnostics;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Cli;

/// <summary>
/// Runs the built tool as users do: a process with arguments, standard streams and an exit code. <c>LIGHTQ_TOOL</c>
/// names another program to run instead, such as the native one.
/// </summary>
internal static class LightQTool
{
    // The long runs on demand write tens of gigabytes.
    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(FaultRun.Tier == "N" ? 60 : 4);

    /// <summary>What runs the tool: a program and its first arguments.</summary>
    public static IReadOnlyList<string> Command { get; } =
        Environment.GetEnvironmentVariable("LIGHTQ_TOOL") is { Length: > 0 } program
            ? [Path.GetFullPath(program)]
            : ["dotnet", Path.Combine(AppContext.BaseDirectory, "lightq.dll")];

    /// <summary>Whether it is one program, without assemblies.</summary>
    public static bool IsNative => Command.Count == 1;

    /// <summary>The same as a shell takes it.</summary>
    public static string Typed { get; } = string.Join(' ', Command.Select(part => $"'{part}'"));

    /// <summary>Runs a command to its end.</summary>
    /// <param name="server">The broker, or null for none.</param>
    /// <param name="input">Standard input; null for an empty one.</param>
    /// <param name="arguments">The arguments.</param>
    public static Task<ToolResult> RunAsync(string? server, byte[]? input, params string[] arguments) =>
        RunAsync(Start(server, arguments), input);

    /// <summary>Runs a command that needs no input.</summary>
    public static Task<ToolResult> RunAsync(string? server, params string[] arguments) =>
        RunAsync(server, input: null, arguments);

    /// <summary>Runs a command with variables in its environment, and no others of the tool's.</summary>
    public static Task<ToolResult> RunWithAsync(
        IEnumerable<(string Name, string Value)> environment,
        params string[] arguments
    ) => RunAsync(StartWith(environment, arguments), input: null);

    /// <summary>Runs a command that needs no input in a directory.</summary>
    public static Task<ToolResult> RunInAsync(string directory, string server, params string[] arguments) =>
        RunAsync(
            StartWith([("LIGHTQ_SERVER", server)], descriptors: null, isHeld: false, directory, arguments),
            input: null
        );

    private static async Task<ToolResult> RunAsync(Process started, byte[]? input)
    {
        using Process process = started;
        Task<byte[]> output = ReadAsync(process.StandardOutput.BaseStream);
        Task<string> errors = process.StandardError.ReadToEndAsync(TestContext.Current.CancellationToken);
        if (input is not null)
            await process.StandardInput.BaseStream.WriteAsync(input, TestContext.Current.CancellationToken);
        process.StandardInput.Close();
        await EndAsync(process);
        return new ToolResult(process.ExitCode, await output, await errors);
    }

    /// <summary>Starts a command; the caller ends it.</summary>
    public static Process Start(string? server, params string[] arguments) => Start(server, [], arguments);

    /// <summary>Starts a command with settings in its environment; the caller ends it.</summary>
    /// <param name="server">The broker, or null for none.</param>
    /// <param name="settings">Settings by their keys, such as <c>Broker:JournalWriters</c>.</param>
    /// <param name="arguments">The arguments.</param>
    public static Process Start(
        string? server,
        IEnumerable<(string Key, string Value)> settings,
        params string[] arguments
    ) =>
        Start(server is null ? [] : [("LIGHTQ_SERVER", server)], settings, descriptors: null, isHeld: false, arguments);

    /// <summary>Starts a command that may have only so many descriptors; the caller ends it.</summary>
    /// <param name="environment">Variables besides the settings.</param>
    /// <param name="settings">Settings by their keys.</param>
    /// <param name="descriptors">How many; null for as many as this process.</param>
    /// <param name="isHeld">Whether the process stops at its very beginning and waits for SIGCONT.</param>
    /// <param name="arguments">The arguments.</param>
    public static Process Start(
        IEnumerable<(string Name, string Value)> environment,
        IEnumerable<(string Key, string Value)> settings,
        int? descriptors,
        bool isHeld,
        params string[] arguments
    ) =>
        StartWith(
            [
                .. settings.Select(s => ("LIGHTQ__" + s.Key.Replace(":", "__", StringComparison.Ordinal), s.Value)),
                .. environment,
            ],
            descriptors,
            isHeld,
            arguments
        );

    /// <summary>
    /// Starts a command with variables in its environment, and no others of the tool's; the caller ends it.
    /// </summary>
    public static Process StartWith(IEnumerable<(string Name, string Value)> environment, params string[] arguments) =>
        StartWith(environment, descriptors: null, isHeld: false, arguments);

    private static Process StartWith(
        IEnumerable<(string Name, string Value)> environment,
        int? descriptors,
        bool isHeld,
        params string[] arguments
    ) => StartWith(environment, descriptors, isHeld, directory: "", arguments);

    private static Process StartWith(
        IEnumerable<(string Name, string Value)> environment,
        int? descriptors,
        bool isHeld,
        string directory,
        string[] arguments
    )
    {
        string[] command = [.. Command, .. arguments];
        string limit = descriptors is { } most ? FormattableString.Invariant($"ulimit -n {most}; ") : "";
        string first = limit + (isHeld ? "kill -STOP $$; " : "");
        if (first.Length != 0)
            command = ["/bin/sh", "-c", $"{first}exec \"$@\"", "sh", .. command];
        var start = new ProcessStartInfo(command[0], command[1..])
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
            WorkingDirectory = directory,
        };
        foreach (
            string name in start
                .Environment.Keys.Where(k => k.StartsWith("LIGHTQ_", StringComparison.Ordinal))
                .ToArray()
        )
        {
            start.Environment.Remove(name);
        }

        // Whoever runs the tests may have contexts.
        start.Environment["XDG_CONFIG_HOME"] = Path.Combine(AppContext.BaseDirectory, "no-configuration");
        // A killed process would leave its diagnostic sockets behind.
        start.Environment["DOTNET_EnableDiagnostics"] = "0";
        start.Environment["DOTNET_TieredPGO"] = "0"; // As for the tests themselves.
        foreach ((string name, string value) in environment)
            start.Environment[name] = value;
        return Process.Start(start)!;
    }

    /// <summary>Waits for a process; one that does not end is killed and fails the test.</summary>
    public static async Task EndAsync(Process process)
    {
        using var timeout = CancellationTokenSource.CreateLinkedTokenSource(TestContext.Current.CancellationToken);
        timeout.CancelAfter(Patience);
        try
        {
            await process.WaitForExitAsync(timeout.Token);
        }
        catch (OperationCanceledException)
        {
            process.Kill(entireProcessTree: true);
            Assert.Fail(
                $"'{process.StartInfo.FileName} {string.Join(' ', process.StartInfo.ArgumentList)}' did not end."
            );
        }
    }

    private static async Task<byte[]> ReadAsync(Stream stream)
    {
        using var content = new MemoryStream();
        await stream.CopyToAsync(content, TestContext.Current.CancellationToken);
        return content.ToArray();
    }
}
