using LightQ.Cli.Bench.Fanout;
using LightQ.Cli.Bench.InProcess;

namespace LightQ.Cli.Hosting;

/// <summary>The runtime settings of a process that is a broker and nothing else, a thousand clients, or two threads that hand messages over.</summary>
/// <remarks>
/// Socket callbacks that run where they arrive, instead of on a pool thread, halve the latency; pool threads that do not spin
/// leave the cores of a small machine to those who work. Both change the whole process, so only commands that
/// are a whole process set them, and never over what the user has set. Beside two threads that spin, each pool thread that does so before it sleeps
/// stops one of them: 130 times at the beginning of a run, and as often at its end.
/// </remarks>
internal static class BrokerRuntime
{
    public const string InlineCompletions = "DOTNET_SYSTEM_NET_SOCKETS_INLINE_COMPLETIONS";
    public const string PoolSpinLimit = "DOTNET_ThreadPool_UnfairSemaphoreSpinLimit";

    /// <summary>Applies the settings if the arguments are those of such a process.</summary>
    public static void Prepare(string[] args)
    {
        foreach ((string name, string value) in SettingsFor(args))
        {
            if (Environment.GetEnvironmentVariable(name) is null)
                Environment.SetEnvironmentVariable(name, value);
        }
    }

    /// <summary>What a process with these arguments is to have.</summary>
    public static IReadOnlyDictionary<string, string> SettingsFor(string[] args) => args switch
    {
        ["server", "stop" or "reload", ..] => new Dictionary<string, string>(),
        ["server", ..] or ["bench-role", FanoutRole.Name] => new Dictionary<string, string> { [InlineCompletions] = "1", [PoolSpinLimit] = "0" },
        ["bench", "inprocess", ..] or ["bench-role", ProcessPartner.Role, ..] => new Dictionary<string, string> { [PoolSpinLimit] = "0" },
        _ => new Dictionary<string, string>(),
    };
}
