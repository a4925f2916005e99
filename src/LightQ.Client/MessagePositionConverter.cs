using System.ComponentModel;
using System.Text.Json;
using System.Text.Json.Serialization;

namespace LightQ.Client;

/// <summary>A position in JSON, as its text. Public for generated serializers, which name it.</summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public sealed class MessagePositionConverter : JsonConverter<MessagePosition>
{
    /// <inheritdoc/>
    public override MessagePosition Read(
        ref Utf8JsonReader reader,
        Type typeToConvert,
        JsonSerializerOptions options
    ) =>
        MessagePosition.TryParse(reader.GetString(), null, out MessagePosition position)
            ? position
            : throw new JsonException("It is no position of a message; allowed: partition/offset, as in 3/1234.");

    /// <inheritdoc/>
    public override void Write(Utf8JsonWriter writer, MessagePosition value, JsonSerializerOptions options) =>
        writer.WriteStringValue(value.ToString());
}
