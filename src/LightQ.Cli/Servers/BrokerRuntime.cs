namespace LightQ.Cli.Servers;

/// <summary>The runtime settings of a process that is a broker and nothing else.</summary>
/// <remarks>
/// Socket callbacks that run where they arrive, instead of on a pool thread, halve the latency; pool threads that
/// do not spin
/// leave the cores of a small machine to the threads that work.
/// </remarks>
internal static class BrokerRuntime
{
    /// <summary>What a process with these arguments is to have.</summary>
    public static IReadOnlyDictionary<string, string> SettingsFor(string[] args) =>
        args switch
        {
            ["server", "stop" or "reload" or "settings", ..] => RuntimeSettings.None,
            ["server", ..] => RuntimeSettings.Sockets,
            _ => RuntimeSettings.None,
        };
}
