using System.Collections.Frozen;

namespace LightQ.Server.Configuration;

/// <summary>Where the values of <see cref="LightQServerOptions"/> come from.</summary>
/// <remarks>Two of them are always equal: options with the same values are equal, wherever these come from.</remarks>
internal sealed class SettingSources
{
    private readonly FrozenDictionary<ServerSetting, Origin> _origins;

    private SettingSources(IEnumerable<KeyValuePair<ServerSetting, Origin>> origins) =>
        _origins = origins.ToFrozenDictionary();

    /// <summary>Of options that are not read from a configuration.</summary>
    public static SettingSources None { get; } = new([]);

    /// <summary>Of options that were read from a configuration.</summary>
    /// <param name="options">What was read.</param>
    /// <param name="sources">The settings that are set, and where.</param>
    public static SettingSources Of(
        LightQServerOptions options,
        IReadOnlyDictionary<ServerSetting, SettingSource> sources
    ) =>
        new(
            ServerSettings.All.Select(s =>
                KeyValuePair.Create(s, new Origin(s.Read(options), sources.GetValueOrDefault(s, SettingSource.Default)))
            )
        );

    /// <summary>Each setting with its source, in the order in which they are shown.</summary>
    /// <remarks>A program may have set another value than was read; its source is then code.</remarks>
    /// <param name="options">The options in force.</param>
    public static IEnumerable<(ServerSetting Setting, SettingSource Source)> List(LightQServerOptions options)
    {
        var defaults = new LightQServerOptions();
        foreach (ServerSetting setting in ServerSettings.All)
        {
            string text = setting.Read(options);
            yield return (
                setting,
                options.Sources._origins.TryGetValue(setting, out Origin origin) && origin.Text == text ? origin.Source
                : text == setting.Read(defaults) ? SettingSource.Default
                : SettingSource.Code
            );
        }
    }

    /// <summary>The same, with the sources of another configuration for the values that are those of it.</summary>
    /// <param name="options">The options in force.</param>
    /// <param name="configured">The options of the other configuration.</param>
    public SettingSources With(LightQServerOptions options, LightQServerOptions configured)
    {
        var origins = new Dictionary<ServerSetting, Origin>(_origins);
        foreach ((ServerSetting setting, Origin origin) in configured.Sources._origins)
        {
            if (setting.Read(options) == origin.Text)
                origins[setting] = origin;
        }
        return new SettingSources(origins);
    }

    /// <inheritdoc/>
    public override bool Equals(object? obj) => obj is SettingSources;

    /// <inheritdoc/>
    public override int GetHashCode() => 0;

    /// <summary>A value that was read, and where.</summary>
    private readonly record struct Origin(string Text, SettingSource Source);
}
