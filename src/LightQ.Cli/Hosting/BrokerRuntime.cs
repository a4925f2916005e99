using LightQ.Cli.Bench.Fanout;

namespace LightQ.Cli.Hosting;

/// <summary>The runtime settings of a process that is a broker and nothing else, or a thousand clients.</summary>
/// <remarks>
/// Socket callbacks that run where they arrive, instead of on a pool thread, halve the latency; pool threads that do not spin
/// leave the cores of a small machine to those who work. Both change the whole process, so only commands that
/// are a whole process set them, and never over what the user has set.
/// </remarks>
internal static class BrokerRuntime
{
    public const string InlineCompletions = "DOTNET_SYSTEM_NET_SOCKETS_INLINE_COMPLETIONS";
    public const string PoolSpinLimit = "DOTNET_ThreadPool_UnfairSemaphoreSpinLimit";

    /// <summary>Applies the settings if the arguments are those of such a process.</summary>
    public static void Prepare(string[] args)
    {
        if (args is ["server", "stop" or "reload", ..] or not (["server", ..] or ["bench-role", FanoutRole.Name]))
            return;
        SetDefault(InlineCompletions, "1");
        SetDefault(PoolSpinLimit, "0");
    }

    private static void SetDefault(string name, string value)
    {
        if (Environment.GetEnvironmentVariable(name) is null)
            Environment.SetEnvironmentVariable(name, value);
    }
}
