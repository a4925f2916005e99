using System.Buffers;
using System.Buffers.Text;
using System.Globalization;
using System.Text;
using System.Text.Json;
using Google.Protobuf;
using Google.Protobuf.Reflection;
using LightQ.Broker;
using LightQ.Protocol;

namespace LightQ.Server.Json;

/// <summary>
/// Goes through a request in JSON beside its description, in front of protobuf's parser: writes bytes as that wants
/// them, and names the field that has a wrong value, which it does not.
/// </summary>
internal sealed class JsonFields : IDisposable
{
    /// <summary>
    /// Behind the name of a field of bytes: it is written as text, of which its bytes are the UTF-8.
    /// </summary>
    public const string Text = "Text";

    private const string SnakeText = "_text";

    /// <summary>Deeper than the parser goes, which says so.</summary>
    private const int MostDeep = 200;

    private readonly ArrayBufferWriter<byte> _json = new();
    private readonly Utf8JsonWriter _writer;

    private JsonFields() =>
        _writer = new Utf8JsonWriter(_json, new JsonWriterOptions { SkipValidation = true, MaxDepth = MostDeep });

    /// <summary>Goes through a request.</summary>
    /// <param name="body">The text, without a byte order mark.</param>
    /// <param name="type">What it is.</param>
    /// <returns>The same for the parser.</returns>
    /// <exception cref="BrokerException">A field has a value that it cannot have; it is named.</exception>
    /// <exception cref="JsonException">It is no JSON.</exception>
    public static string Read(ReadOnlySpan<byte> body, MessageDescriptor type)
    {
        var reader = new Utf8JsonReader(body, new JsonReaderOptions { MaxDepth = MostDeep });
        using var fields = new JsonFields();
        reader.Read();
        if (reader.TokenType != JsonTokenType.StartObject)
            throw new JsonException($"it is {Word(reader.TokenType)}, and an object is wanted");
        fields.Copy(ref reader, type, "");
        while (reader.Read())
        {
            // Behind the object is nothing: the reader says so.
        }
        fields._writer.Flush();
        return Encoding.UTF8.GetString(fields._json.WrittenSpan);
    }

    public void Dispose() => _writer.Dispose();

    private void Copy(ref Utf8JsonReader reader, MessageDescriptor type, string path)
    {
        _writer.WriteStartObject();
        var bytes = new HashSet<FieldDescriptor>();
        while (reader.Read() && reader.TokenType == JsonTokenType.PropertyName)
        {
            string name = reader.GetString()!;
            (FieldDescriptor? field, bool isText) = Find(type, name);
            reader.Read();
            string place = path.Length == 0 ? name : $"{path}.{name}";
            if (field is { FieldType: FieldType.Bytes } && !bytes.Add(field))
            {
                throw Refuse(
                    $"{place} is there besides {field.JsonName} or {field.JsonName}{Text}; allowed: one of them"
                );
            }

            _writer.WritePropertyName(field is { FieldType: FieldType.Bytes } ? field.JsonName : name);
            if (field is null || field.IsMap || reader.TokenType == JsonTokenType.Null)
                CopyAsIs(ref reader); // Of an unknown name the parser says that it is.
            else if (field.IsRepeated)
                CopyList(ref reader, field, place);
            else
                CopyValue(ref reader, field, isText, place);
        }
        _writer.WriteEndObject();
    }

    private void CopyList(ref Utf8JsonReader reader, FieldDescriptor field, string place)
    {
        Demand(reader.TokenType == JsonTokenType.StartArray, place, "a list", reader);
        _writer.WriteStartArray();
        for (int i = 0; reader.Read() && reader.TokenType != JsonTokenType.EndArray; i++)
        {
            // The parser refuses null in a list, and says so.
            if (reader.TokenType == JsonTokenType.Null)
                _writer.WriteNullValue();
            else
                CopyValue(ref reader, field, isText: false, $"{place}[{i}]");
        }
        _writer.WriteEndArray();
    }

    private void CopyValue(ref Utf8JsonReader reader, FieldDescriptor field, bool isText, string place)
    {
        JsonTokenType token = reader.TokenType;
        switch (field.FieldType)
        {
            case FieldType.Message when JsonRequest.IsTime(field.MessageType):
                Demand(
                    token == JsonTokenType.String && IsTime(reader.GetString()!, field),
                    place,
                    TimeOf(field),
                    reader
                );
                break;
            case FieldType.Message:
                Demand(token == JsonTokenType.StartObject, place, "an object", reader);
                Copy(ref reader, field.MessageType, place);
                return;
            case FieldType.Bytes:
                Demand(token == JsonTokenType.String, place, isText ? "a text" : "base64", reader);
                WriteBytes(ref reader, isText, place);
                return;
            case FieldType.String:
                Demand(token == JsonTokenType.String, place, "a text", reader);
                break;
            case FieldType.Bool:
                Demand(token is JsonTokenType.True or JsonTokenType.False, place, "true or false", reader);
                break;
            case FieldType.Enum:
                Demand(
                    token == JsonTokenType.Number
                        || (
                            token == JsonTokenType.String
                            && field.EnumType.FindValueByName(reader.GetString()!) is not null
                        ),
                    place,
                    $"one of {string.Join(", ", field.EnumType.Values.Select(v => v.Name))}",
                    reader
                );
                break;
            default:
                Demand(
                    token is JsonTokenType.Number or JsonTokenType.String && IsNumber(reader, field),
                    place,
                    "a number of its range",
                    reader
                );
                break;
        }
        CopyAsIs(ref reader);
    }

    /// <summary>Base64 as protobuf's mapping takes it: of either alphabet, with or without padding.</summary>
    private void WriteBytes(ref Utf8JsonReader reader, bool isText, string place)
    {
        string value = reader.GetString()!;
        if (isText)
        {
            _writer.WriteBase64StringValue(Encoding.UTF8.GetBytes(value));
            return;
        }
        string url = value.TrimEnd('=').Replace('+', '-').Replace('/', '_');
        byte[] bytes = new byte[Base64Url.GetMaxDecodedLength(url.Length)];
        if (
            value.Length - url.Length > 2
            || Base64Url.DecodeFromChars(url, bytes, out _, out int written) != OperationStatus.Done
        )
        {
            throw Refuse($"{place} is no base64; a text is written as {place}{Text}");
        }
        _writer.WriteBase64StringValue(bytes.AsSpan(0, written));
    }

    private void CopyAsIs(ref Utf8JsonReader reader)
    {
        if (reader.TokenType == JsonTokenType.String)
        {
            _writer.WriteStringValue(reader.GetString());
            return;
        }
        if (reader.TokenType == JsonTokenType.Number)
        {
            _writer.WriteRawValue(reader.ValueSpan, skipInputValidation: true);
            return;
        }
        using var value = JsonDocument.ParseValue(ref reader);
        value.RootElement.WriteTo(_writer);
    }

    private static (FieldDescriptor? Field, bool IsText) Find(MessageDescriptor type, string name)
    {
        if (Named(type, name) is { } field)
            return (field, false);
        string? bytes =
            name.EndsWith(SnakeText, StringComparison.Ordinal) ? name[..^SnakeText.Length]
            : name.EndsWith(Text, StringComparison.Ordinal) ? name[..^Text.Length]
            : null;
        return bytes is not null && Named(type, bytes) is { FieldType: FieldType.Bytes, IsRepeated: false } found
            ? (found, true)
            : (null, false);
    }

    private static FieldDescriptor? Named(MessageDescriptor type, string name) =>
        type.Fields.InDeclarationOrder().FirstOrDefault(f => f.Name == name || f.JsonName == name);

    private static bool IsTime(string text, FieldDescriptor field)
    {
        try
        {
            JsonParser.Default.Parse($"\"{JsonEncodedText.Encode(text)}\"", field.MessageType);
            return true;
        }
        catch (InvalidProtocolBufferException)
        {
            return false;
        }
    }

    private static bool IsNumber(in Utf8JsonReader reader, FieldDescriptor field)
    {
        string text =
            reader.TokenType == JsonTokenType.String ? reader.GetString()! : Encoding.UTF8.GetString(reader.ValueSpan);
        CultureInfo culture = CultureInfo.InvariantCulture;
        if (field.FieldType is FieldType.Double or FieldType.Float)
            return double.TryParse(text, culture, out _);
        // Also 1e3 and 1.0, which JSON writes where it likes.
        return decimal.TryParse(text, NumberStyles.Float, culture, out decimal number)
            && number == decimal.Truncate(number)
            && field.FieldType switch
            {
                FieldType.Int32 or FieldType.SInt32 or FieldType.SFixed32 => number
                    is >= int.MinValue
                        and <= int.MaxValue,
                FieldType.UInt32 or FieldType.Fixed32 => number is >= 0 and <= uint.MaxValue,
                FieldType.UInt64 or FieldType.Fixed64 => number is >= 0 and <= ulong.MaxValue,
                _ => number is >= long.MinValue and <= long.MaxValue,
            };
    }

    private static string TimeOf(FieldDescriptor field) =>
        field.MessageType.Name == "Duration" ? "a duration like 1.5s" : "a time like 2026-01-31T12:00:00Z";

    private static void Demand(bool holds, string place, string wanted, in Utf8JsonReader reader)
    {
        if (holds)
            return;
        string value = reader.TokenType switch
        {
            JsonTokenType.String => $"'{TopicName.Printable(reader.GetString()!)}'",
            JsonTokenType.Number => TopicName.Printable(Encoding.UTF8.GetString(reader.ValueSpan)),
            _ => Word(reader.TokenType),
        };
        throw Refuse($"{TopicName.Printable(place)} is {value}; wanted is {wanted}");
    }

    private static string Word(JsonTokenType token) =>
        token switch
        {
            JsonTokenType.StartObject => "an object",
            JsonTokenType.StartArray => "a list",
            JsonTokenType.True => "true",
            JsonTokenType.False => "false",
            JsonTokenType.Null => "null",
            JsonTokenType.String => "a text",
            JsonTokenType.Number => "a number",
            _ => "nothing",
        };

    private static BrokerException Refuse(string problem) => new(ErrorCode.InvalidArgument, $"{problem}.");
}
