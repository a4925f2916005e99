using System.Diagnostics;
using Xunit;

namespace LightQ.IntegrationTests.Grpc;

/// <summary>Runs a program in another language and gives back what it printed.</summary>
internal static class StockClient
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    /// <summary>The root of the source tree.</summary>
    public static string SourceTree { get; } = FindSourceTree();

    /// <summary>Where Node.js finds its packages.</summary>
    public static string NodeModules { get; } =
        Environment.GetEnvironmentVariable("LIGHTQ_NODE_MODULES") is { Length: > 0 } modules
            ? modules
            : Path.Combine(FolderOf("node"), "node_modules");

    /// <summary>Debian's python3-grpcio belongs to Debian's python, which another in the PATH may hide.</summary>
    public static string Python { get; } = File.Exists("/usr/bin/python3") ? "/usr/bin/python3" : "python3";

    /// <summary>The folder of a client.</summary>
    public static string FolderOf(string language) =>
        Path.Combine(SourceTree, "tests", "LightQ.IntegrationTests", "Grpc", "clients", language);

    /// <summary>Skips the test where Node.js or its packages are missing.</summary>
    public static async Task RequireNodeAsync()
    {
        Assert.SkipUnless(await WorksAsync("node", "--version"), "There is no node on this machine.");
        Assert.SkipUnless(
            Directory.Exists(NodeModules),
            $"The client's packages are not installed: run 'npm ci' in {FolderOf("node")}, or set LIGHTQ_NODE_MODULES "
                + $"to a node_modules folder that has them."
        );
    }

    /// <summary>Skips the test where Python or its packages are missing.</summary>
    public static async Task RequirePythonAsync() =>
        Assert.SkipUnless(
            await WorksAsync(Python, "-c", "import grpc, google.protobuf"),
            $"{Python} has no grpc: install python3-grpcio and python3-protobuf."
        );

    /// <summary>Whether a command can be run and ends with 0.</summary>
    public static async Task<bool> WorksAsync(string program, params string[] arguments)
    {
        try
        {
            (int code, _, _) = await RunAsync(program, arguments);
            return code == 0;
        }
        catch (System.ComponentModel.Win32Exception)
        {
            return false; // There is no such program.
        }
    }

    /// <summary>Runs a program that must end with 0.</summary>
    public static async Task<string> OutputOfAsync(string program, params string[] arguments)
    {
        (int code, string output, string errors) = await RunAsync(program, arguments);
        Assert.True(code == 0, $"{program} ended with {code}: {errors}");
        return output;
    }

    private static async Task<(int Code, string Output, string Errors)> RunAsync(string program, string[] arguments)
    {
        var start = new ProcessStartInfo(program, arguments)
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        start.Environment["NODE_PATH"] = NodeModules;
        using Process process = Process.Start(start)!;
        using var patience = CancellationTokenSource.CreateLinkedTokenSource(TestContext.Current.CancellationToken);
        patience.CancelAfter(Patience);
        try
        {
            Task<string> output = process.StandardOutput.ReadToEndAsync(patience.Token);
            Task<string> errors = process.StandardError.ReadToEndAsync(patience.Token);
            await process.WaitForExitAsync(patience.Token);
            return (process.ExitCode, await output, await errors);
        }
        catch (OperationCanceledException)
        {
            process.Kill(entireProcessTree: true);
            throw;
        }
    }

    private static string FindSourceTree()
    {
        for (
            DirectoryInfo? directory = new(AppContext.BaseDirectory);
            directory is not null;
            directory = directory.Parent
        )
        {
            if (File.Exists(Path.Combine(directory.FullName, "LightQ.sln")))
                return directory.FullName;
        }
        throw new InvalidOperationException($"LightQ.sln is in no directory above {AppContext.BaseDirectory}.");
    }
}
