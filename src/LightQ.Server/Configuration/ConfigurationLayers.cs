using System.Text.Json;
using Microsoft.Extensions.Configuration;

namespace LightQ.Server.Configuration;

/// <summary>One value on its way into the options.</summary>
internal readonly record struct LayeredValue(string Key, string Text, ValueSource Source);

/// <summary>Reads each kind of source into keys and texts.</summary>
internal static class ConfigurationLayers
{
    /// <summary>What environment variables begin with; two underscores separate the parts of a key.</summary>
    public const string EnvironmentPrefix = "LIGHTQ__";

    /// <summary>The variables that every program with OpenTelemetry goes by, and that are settings here.</summary>
    private static readonly (string Variable, string Key)[] Standard =
    [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "Otlp:Endpoint"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "Otlp:Protocol"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "Otlp:Headers"),
    ];

    /// <exception cref="ServerStartException">The file cannot be read or is not JSON.</exception>
    public static IEnumerable<LayeredValue> ReadFile(string path)
    {
        try
        {
            using FileStream stream = File.OpenRead(path);
            return ReadJson(stream, path);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw Refuse($"The configuration file '{path}' cannot be used: {e.Message}", e, path);
        }
    }

    /// <summary>Reads what a file holds.</summary>
    /// <param name="stream">The file's content.</param>
    /// <param name="path">The file's name, as the source of its values.</param>
    /// <exception cref="ServerStartException">It is not JSON.</exception>
    public static IReadOnlyList<LayeredValue> ReadJson(Stream stream, string path)
    {
        try
        {
            IConfigurationRoot json = new ConfigurationBuilder().AddJsonStream(stream).Build();
            return
            [
                .. json.AsEnumerable()
                    .Where(v => v.Value is not null)
                    .Select(v => new LayeredValue(v.Key, v.Value!, new ValueSource(ValueSourceKind.File, path))),
            ];
        }
        catch (JsonException e)
        {
            throw Refuse($"'{path}' is not JSON, line {e.LineNumber + 1}: {e.Message}", e, path);
        }
        // The latter for half a surrogate pair.
        catch (Exception e) when (e is FormatException or InvalidOperationException)
        {
            throw Refuse($"The configuration file '{path}' cannot be used: {e.Message}", e, path);
        }
    }

    /// <summary>Reads the environment: OpenTelemetry's variables first, so that ours win. Of the former, an empty one
    /// is as none.</summary>
    public static IEnumerable<LayeredValue> ReadEnvironment(IEnumerable<KeyValuePair<string, string>> variables)
    {
        KeyValuePair<string, string>[] all = [.. variables];
        IEnumerable<LayeredValue> standard =
            from variable in all
            from name in Standard
            where variable.Key == name.Variable && variable.Value.Length != 0
            select new LayeredValue(name.Key, variable.Value, OfVariable(variable.Key));
        return standard.Concat(
            from variable in all
            where variable.Key.StartsWith(EnvironmentPrefix, StringComparison.OrdinalIgnoreCase)
            let key = variable.Key[EnvironmentPrefix.Length..].Replace("__", ":", StringComparison.Ordinal)
            select new LayeredValue(key, variable.Value, OfVariable(variable.Key))
        );
    }

    /// <exception cref="ServerStartException">There is no such flag.</exception>
    public static IEnumerable<LayeredValue> ReadFlags(IReadOnlyDictionary<string, string> flags) =>
        flags.Select(flag =>
            ServerSettings.All.FirstOrDefault(s => s.Flag == flag.Key) is { } setting
                ? new LayeredValue(setting.Key, flag.Value, new ValueSource(ValueSourceKind.CommandLine, flag.Key))
                : throw Refuse($"There is no flag {flag.Key}.", null)
        );

    private static ValueSource OfVariable(string name) => new(ValueSourceKind.Environment, name);

    private static ServerStartException Refuse(string message, Exception? cause, params string[] files) =>
        new(ServerStartFailure.Configuration, message, cause, files);
}
