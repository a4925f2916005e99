namespace LightQ.Server.Configuration;

/// <summary>Where the values of <see cref="LightQServerOptions"/> come from.</summary>
internal static class SettingSources
{
    /// <summary>The origins of options that were read from a configuration.</summary>
    /// <param name="options">What was read.</param>
    /// <param name="sources">The settings that are set, and where.</param>
    public static ValueOrigins Of(
        LightQServerOptions options,
        IReadOnlyDictionary<ServerSetting, ValueSource> sources
    ) =>
        new(
            ServerSettings.All.ToDictionary(
                s => s.Key,
                s => new ValueOrigin(s.Read(options), sources.GetValueOrDefault(s, ValueSource.Default))
            )
        );

    /// <summary>Each setting with its source, in the order in which they are shown.</summary>
    /// <remarks>A program may have set another value than was read; its source is then code.</remarks>
    /// <param name="options">The options in force.</param>
    public static IEnumerable<(ServerSetting Setting, ValueSource Source)> List(LightQServerOptions options)
    {
        var defaults = new LightQServerOptions();
        foreach (ServerSetting setting in ServerSettings.All)
        {
            string text = setting.Read(options);
            yield return (
                setting,
                options.Origins.Values.TryGetValue(setting.Key, out ValueOrigin origin) && origin.Text == text
                    ? origin.Source
                : text == setting.Read(defaults) ? ValueSource.Default
                : ValueSource.Code
            );
        }
    }

    /// <summary>
    /// The origins after a reload: of another configuration for the values that are those of it, and otherwise those of
    /// before.
    /// </summary>
    /// <param name="running">The options before.</param>
    /// <param name="configured">The options of the other configuration.</param>
    /// <param name="merged">The options in force.</param>
    public static ValueOrigins Merge(
        LightQServerOptions running,
        LightQServerOptions configured,
        LightQServerOptions merged
    )
    {
        var origins = new Dictionary<string, ValueOrigin>(running.Origins.Values);
        foreach (ServerSetting setting in ServerSettings.All)
        {
            if (
                configured.Origins.Values.TryGetValue(setting.Key, out ValueOrigin origin)
                && origin.Text == setting.Read(merged)
            )
            {
                origins[setting.Key] = origin;
            }
        }
        return new ValueOrigins(origins);
    }
}
