namespace LightQ.Cli;

/// <summary>
/// Settings of the runtime, which change the whole process: only commands that are a whole process have them.
/// </summary>
internal static class RuntimeSettings
{
    public const string InlineCompletions = "DOTNET_SYSTEM_NET_SOCKETS_INLINE_COMPLETIONS";
    public const string PoolSpinLimit = "DOTNET_ThreadPool_UnfairSemaphoreSpinLimit";

    /// <summary>The runtime's own.</summary>
    public static readonly IReadOnlyDictionary<string, string> None = new Dictionary<string, string>();

    /// <summary>Pool threads that do not spin before they sleep.</summary>
    public static readonly IReadOnlyDictionary<string, string> NoSpinning = new Dictionary<string, string>
    {
        [PoolSpinLimit] = "0",
    };

    /// <summary>
    /// For a process that lives by its sockets: their callbacks run where they arrive, and pool threads do not
    /// spin.
    /// </summary>
    public static readonly IReadOnlyDictionary<string, string> Sockets = new Dictionary<string, string>
    {
        [InlineCompletions] = "1",
        [PoolSpinLimit] = "0",
    };

    /// <summary>Applies settings, never over what the user has set.</summary>
    public static void Apply(IReadOnlyDictionary<string, string> settings)
    {
        foreach ((string name, string value) in settings)
        {
            if (Environment.GetEnvironmentVariable(name) is null)
                Environment.SetEnvironmentVariable(name, value);
        }
    }
}
