using System.Diagnostics;
using System.Globalization;
using System.Text.Json.Nodes;
using Xunit;

namespace LightQ.DashboardTests;

/// <summary>
/// <c>lightq server</c> in a process of its own: the program that <c>LIGHTQ_TOOL</c> names, such as the native one, or
/// the one that the tree has built.
/// </summary>
public sealed class ToolBroker : IAsyncDisposable
{
    private readonly JsonNode _ports;

    private ToolBroker(Process process, JsonNode ports, TimeSpan startTime)
    {
        (Process, _ports, StartTime) = (process, ports, startTime);
        _ = process.StandardError.ReadToEndAsync();
    }

    /// <summary>The program that <c>LIGHTQ_TOOL</c> names; null for none.</summary>
    public static string? Named =>
        Environment.GetEnvironmentVariable("LIGHTQ_TOOL") is { Length: > 0 } program ? Path.GetFullPath(program) : null;

    public Process Process { get; }

    /// <summary>From the start of the process until it takes connections.</summary>
    public TimeSpan StartTime { get; }

    public int DataPort => PortOf("data_port");

    public int ControlPort => PortOf("control_port");

    public int WebPort => PortOf("web_port");

    /// <summary>What <c>--server</c> takes.</summary>
    public string Url => (string)_ports["connection_string"]!;

    /// <summary>Memory of the process, shared files included.</summary>
    public long ResidentBytes
    {
        get
        {
            const string Resident = "VmRSS:";
            string line = File.ReadLines($"/proc/{Process.Id}/status")
                .Single(l => l.StartsWith(Resident, StringComparison.Ordinal));
            return 1024 * long.Parse(line[Resident.Length..^"kB".Length].Trim(), CultureInfo.InvariantCulture);
        }
    }

    /// <summary>The tool with arguments, not yet started.</summary>
    public static ProcessStartInfo Start(params string[] arguments)
    {
        string[] command = Named is { } program ? [program] : ["dotnet", BuiltTool()];
        var start = new ProcessStartInfo(command[0], [.. command[1..], .. arguments])
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        foreach (string name in (string[])[.. start.Environment.Keys])
        {
            if (name.StartsWith("LIGHTQ_", StringComparison.Ordinal))
                start.Environment.Remove(name);
        }
        start.Environment["XDG_CONFIG_HOME"] = Path.Combine(AppContext.BaseDirectory, "no-configuration");
        start.Environment["DOTNET_EnableDiagnostics"] = "0";
        return start;
    }

    /// <summary>Starts a broker on free ports.</summary>
    /// <param name="directory">Its data.</param>
    /// <param name="hasDashboard">Whether it serves the dashboard.</param>
    /// <param name="more">More arguments.</param>
    public static async Task<ToolBroker> StartAsync(string directory, bool hasDashboard = true, params string[] more)
    {
        ProcessStartInfo start = Start([
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
        ]);
        start.Environment["LIGHTQ__Dashboard__IsEnabled"] = hasDashboard ? "true" : "false";
        long begun = Stopwatch.GetTimestamp();
        Process process = Process.Start(start)!;
        string? line = await process.StandardOutput.ReadLineAsync(TestContext.Current.CancellationToken);
        TimeSpan taken = Stopwatch.GetElapsedTime(begun);
        if (line is null)
            Assert.Fail(await process.StandardError.ReadToEndAsync(TestContext.Current.CancellationToken));
        return new ToolBroker(process, JsonNode.Parse(line)!, taken);
    }

    public async ValueTask DisposeAsync()
    {
        if (!Process.HasExited)
            Process.Kill(entireProcessTree: true);
        await Process.WaitForExitAsync(CancellationToken.None);
        Process.Dispose();
    }

    private static string BuiltTool()
    {
        DirectoryInfo? tree = new(AppContext.BaseDirectory);
        while (tree is not null && !File.Exists(Path.Combine(tree.FullName, "LightQ.sln")))
            tree = tree.Parent;
        string tool = Path.Combine(tree?.FullName ?? "", "src/LightQ.Cli/bin/Release/net10.0/lightq.dll");
        Assert.True(File.Exists(tool), $"{tool} is not there: build the tree, or name a program in LIGHTQ_TOOL.");
        return tool;
    }

    private int PortOf(string name) => (int)_ports[name]!;
}
