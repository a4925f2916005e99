using LightQ.Cli.Hosting;

namespace LightQ.Cli;

/// <summary>The tool's entry point.</summary>
internal static class Program
{
    public static Task<int> Main(string[] args)
    {
        // Before any socket or pool thread exists: both settings are read once, when the first of them is made.
        BrokerRuntime.Prepare(args);
        return CommandLine.RunAsync(args);
    }
}
