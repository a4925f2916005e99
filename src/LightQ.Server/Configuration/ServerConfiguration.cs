using System.Collections;

namespace LightQ.Server.Configuration;

/// <summary>The configuration of a server process: the options in force, and where each value came from.</summary>
/// <remarks>
/// Later sources win: defaults, the file, the environment, flags. The file is the one that was named, or otherwise
/// <see cref="FileName"/> in the working directory.
/// </remarks>
public sealed class ServerConfiguration
{
    /// <summary>The file that is read when none is named and it exists.</summary>
    public const string FileName = "lightq.json";

    /// <summary>
    /// The data directory of a server process if none is configured; relative to the working directory.
    /// </summary>
    public const string DefaultDataDirectory = "lightq-data";

    private ServerConfiguration(LightQServerOptions options, IReadOnlyList<ConfiguredValue> values)
    {
        Options = options;
        Values = values;
    }

    /// <summary>The options in force.</summary>
    public LightQServerOptions Options { get; }

    /// <summary>Every setting with its value and source, in a fixed order.</summary>
    public IReadOnlyList<ConfiguredValue> Values { get; }

    /// <summary>Reads the configuration.</summary>
    /// <param name="flags">
    /// Flags that were given, such as <c>--data-port</c>, with their texts (<c>true</c> for a bare switch); see
    /// <see cref="ServerSetting.Flag"/>.
    /// </param>
    /// <param name="file">
    /// The file to read; null means <see cref="FileName"/> in the working directory if it exists.
    /// </param>
    /// <param name="environment">The environment; null means this process's.</param>
    /// <exception cref="ServerStartException">
    /// A key is unknown or a value not allowed: <see cref="ServerStartFailure.Configuration"/>. The message names the
    /// key, the value, its source and what is allowed.
    /// </exception>
    public static ServerConfiguration Load(
        IReadOnlyDictionary<string, string>? flags = null,
        string? file = null,
        IReadOnlyDictionary<string, string>? environment = null
    )
    {
        if (file is null && File.Exists(FileName))
            file = FileName;
        return Of([
            .. file is null ? [] : ConfigurationLayers.ReadFile(Path.GetFullPath(file)),
            .. ConfigurationLayers.ReadEnvironment(environment ?? ProcessEnvironment()),
            .. ConfigurationLayers.ReadFlags(flags ?? new Dictionary<string, string>()),
        ]);
    }

    /// <summary>Makes the configuration of values, later ones over earlier ones.</summary>
    /// <exception cref="ServerStartException">A key is unknown or a value not allowed.</exception>
    internal static ServerConfiguration Of(IReadOnlyList<LayeredValue> layers)
    {
        var options = new LightQServerOptions { DataDirectory = DefaultDataDirectory };
        var sources = new Dictionary<ServerSetting, ValueSource>();
        foreach (LayeredValue value in layers)
        {
            ServerSetting setting = ServerSettings.Find(value.Key) ?? throw UnknownKey(value);
            options = setting.Apply(options, value.Text, value.Source.ToString());
            sources[setting] = value.Source;
        }
        return new ServerConfiguration(
            options with
            {
                Origins = SettingSources.Of(options, sources),
            },
            [
                .. ServerSettings.All.Select(s => new ConfiguredValue(
                    s,
                    s.Show(s.Read(options)),
                    sources.GetValueOrDefault(s, ValueSource.Default).ToString()
                )),
            ]
        );
    }

    /// <summary>The value is not shown: under a mistyped key it may be anything.</summary>
    private static ServerStartException UnknownKey(LayeredValue value)
    {
        string advice = NearestName.Find(value.Key, ServerSettings.All.Select(s => s.Key)) is { } near
            ? $"did you mean {near}?"
            : "'lightq server --print-config' shows every key.";
        return new ServerStartException(
            ServerStartFailure.Configuration,
            $"There is no setting {value.Key} ({value.Source}); {advice}",
            null,
            value.Source.ToString()
        );
    }

    private static Dictionary<string, string> ProcessEnvironment() =>
        Environment
            .GetEnvironmentVariables()
            .Cast<DictionaryEntry>()
            .ToDictionary(e => (string)e.Key, e => (string?)e.Value ?? "");
}
