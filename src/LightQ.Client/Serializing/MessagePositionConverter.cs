using System.Text.Json;
using System.Text.Json.Serialization;

namespace LightQ.Client.Serializing;

/// <summary>A position in JSON, as its text.</summary>
internal sealed class MessagePositionConverter : JsonConverter<MessagePosition>
{
    public override MessagePosition Read(
        ref Utf8JsonReader reader,
        Type typeToConvert,
        JsonSerializerOptions options
    ) =>
        MessagePosition.TryParse(reader.GetString(), null, out MessagePosition position)
            ? position
            : throw new JsonException("It is no position of a message; allowed: partition/offset, as in 3/1234.");

    public override void Write(Utf8JsonWriter writer, MessagePosition value, JsonSerializerOptions options) =>
        writer.WriteStringValue(value.ToString());
}
