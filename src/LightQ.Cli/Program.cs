using LightQ.Cli.Bench;
using LightQ.Cli.Output;
using LightQ.Cli.Servers;

namespace LightQ.Cli;

/// <summary>The tool's entry point.</summary>
internal static class Program
{
    public static Task<int> Main(string[] args)
    {
        // Before any socket or pool thread exists: both settings are read once, when the first of them is made.
        RuntimeSettings.Apply(BrokerRuntime.SettingsFor(args));
        RuntimeSettings.Apply(BenchRuntime.SettingsFor(args));
        // A broker runs on whether or not its output is read; the parts of a bench end with their
        // parent.
        if (args is ["server", "stop" or "reload" or "settings", ..] or not ["server" or "bench-role", ..])
            StandardOutput.Install();
        return CommandLine.RunAsync(args);
    }
}
