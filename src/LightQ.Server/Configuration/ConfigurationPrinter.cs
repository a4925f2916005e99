using System.Globalization;
using System.Text;
using System.Text.Json;

namespace LightQ.Server.Configuration;

/// <summary>Shows the configuration in force and where each value came from.</summary>
public static class ConfigurationPrinter
{
    /// <summary>A table: key, value, source.</summary>
    public static string ToText(ServerConfiguration configuration)
    {
        ArgumentNullException.ThrowIfNull(configuration);
        int keyWidth = configuration.Values.Max(v => v.Setting.Key.Length);
        int valueWidth = configuration.Values.Max(v => v.Value.Length);
        var text = new StringBuilder();
        foreach (ConfiguredValue value in configuration.Values)
        {
            string key = value.Setting.Key.PadRight(keyWidth),
                shown = value.Value.PadRight(valueWidth);
            text.Append(CultureInfo.InvariantCulture, $"{key}  {shown}  {value.Source}\n");
        }
        return text.ToString();
    }

    /// <summary>
    /// An array of objects with key, value, source, and whether a reload applies it; values are text, as a file would
    /// have them.
    /// </summary>
    public static string ToJson(ServerConfiguration configuration)
    {
        ArgumentNullException.ThrowIfNull(configuration);
        using var buffer = new MemoryStream();
        using (var json = new Utf8JsonWriter(buffer, new JsonWriterOptions { Indented = true }))
        {
            json.WriteStartArray();
            foreach (ConfiguredValue value in configuration.Values)
            {
                json.WriteStartObject();
                json.WriteString("key", value.Setting.Key);
                json.WriteString("value", value.Value);
                json.WriteString("source", value.Source);
                json.WriteBoolean("live", value.Setting.IsLive);
                json.WriteEndObject();
            }
            json.WriteEndArray();
        }
        return Encoding.UTF8.GetString(buffer.ToArray());
    }
}
