using System.Buffers;
using System.Text.Json;
using Google.Protobuf.Reflection;
using Google.Protobuf.WellKnownTypes;

namespace LightQ.Server.Json;

/// <summary>
/// The description of the routes, in OpenAPI 3.0, made of the routes and the descriptors of their messages.
/// </summary>
internal sealed class OpenApiDocument
{
    private const string Error = "Error";

    private readonly Utf8JsonWriter _json;
    private readonly SortedDictionary<string, MessageDescriptor> _schemas = new(StringComparer.Ordinal);

    private OpenApiDocument(Utf8JsonWriter json) => _json = json;

    /// <summary>Writes it.</summary>
    public static byte[] Write()
    {
        var json = new ArrayBufferWriter<byte>();
        using var writer = new Utf8JsonWriter(json, new JsonWriterOptions { Indented = true });
        new OpenApiDocument(writer).WriteAll();
        writer.Flush();
        return json.WrittenSpan.ToArray();
    }

    private void WriteAll()
    {
        _json.WriteStartObject();
        _json.WriteString("openapi", "3.0.3");
        _json.WriteStartObject("info");
        _json.WriteString("title", "LightQ");
        _json.WriteString("version", "v1");
        _json.WriteString(
            "description",
            "Bytes are base64, 64-bit numbers strings, durations seconds with an s, such as \"2.5s\". A request may "
                + "write each field of bytes as text, with Text behind its name."
        );
        _json.WriteEndObject();
        WriteSecurity();
        _json.WriteStartObject("paths");
        foreach (IGrouping<string, JsonRoute> path in JsonRoutes.All.GroupBy(r => r.Pattern))
        {
            _json.WriteStartObject(path.Key);
            foreach (JsonRoute route in path)
                WriteOperation(route);
            _json.WriteEndObject();
        }
        _json.WriteEndObject();
        WriteComponents();
        _json.WriteEndObject();
    }

    private void WriteSecurity()
    {
        _json.WriteStartArray("security");
        foreach (string scheme in (ReadOnlySpan<string>)["", "bearer", "basic"])
        {
            _json.WriteStartObject(); // An empty one: where the broker requires no login.
            if (scheme.Length != 0)
            {
                _json.WriteStartArray(scheme);
                _json.WriteEndArray();
            }
            _json.WriteEndObject();
        }
        _json.WriteEndArray();
    }

    private void WriteOperation(JsonRoute route)
    {
#pragma warning disable CA1308 // As OpenAPI has it.
        _json.WriteStartObject(route.Verb.ToLowerInvariant());
#pragma warning restore CA1308
        _json.WriteString("operationId", route.Method.Name);
        _json.WriteStartArray("tags");
        _json.WriteStringValue(route.Method.Service.Name);
        _json.WriteEndArray();
        _json.WriteStartArray("parameters");
        foreach (FieldDescriptor field in route.PathFields)
            WriteParameter(field, "path");
        FieldDescriptor[] others =
        [
            .. route.Method.InputType.Fields.InDeclarationOrder().Where(f => !route.PathFields.Contains(f)),
        ];
        foreach (FieldDescriptor field in route.HasBody ? [] : others.Where(JsonRequest.IsParameter))
            WriteParameter(field, "query");
        _json.WriteEndArray();
        if (route.HasBody)
        {
            _json.WriteStartObject("requestBody");
            WriteContent("application/json", () => WriteObject(others));
            _json.WriteEndObject();
        }
        _json.WriteStartObject("responses");
        (string type, string what) = route.Method.IsServerStreaming
            ? ("application/x-ndjson", "An object a line, as long as the call lasts; one with error ends it.")
            : ("application/json", "Done.");
        WriteResponse("200", what, type, () => WriteReference(route.Method.OutputType));
        WriteResponse("default", "Refused, or failed.", "application/json", () => WriteReference(Error));
        _json.WriteEndObject();
        _json.WriteEndObject();
    }

    private void WriteParameter(FieldDescriptor field, string place)
    {
        _json.WriteStartObject();
        _json.WriteString("name", place == "path" ? field.Name : field.JsonName);
        _json.WriteString("in", place);
        _json.WriteBoolean("required", place == "path");
        _json.WritePropertyName("schema");
        WriteField(field);
        _json.WriteEndObject();
    }

    private void WriteResponse(string status, string description, string type, Action schema)
    {
        _json.WriteStartObject(status);
        _json.WriteString("description", description);
        WriteContent(type, schema);
        _json.WriteEndObject();
    }

    private void WriteContent(string type, Action schema)
    {
        _json.WriteStartObject("content");
        _json.WriteStartObject(type);
        _json.WritePropertyName("schema");
        schema();
        _json.WriteEndObject();
        _json.WriteEndObject();
    }

    private void WriteComponents()
    {
        _json.WriteStartObject("components");
        _json.WriteStartObject("securitySchemes");
        foreach (string scheme in (ReadOnlySpan<string>)["bearer", "basic"])
        {
            _json.WriteStartObject(scheme);
            _json.WriteString("type", "http");
            _json.WriteString("scheme", scheme);
            _json.WriteEndObject();
        }
        _json.WriteEndObject();
        _json.WriteStartObject("schemas");
        _json.WriteStartObject(Error);
        _json.WriteString("type", "object");
        _json.WriteStartObject("properties");
        foreach (string name in (ReadOnlySpan<string>)["code", "message", "lightq-error-code"])
        {
            _json.WriteStartObject(name);
            _json.WriteString("type", name == "code" ? "integer" : "string");
            _json.WriteEndObject();
        }
        _json.WriteEndObject();
        _json.WriteEndObject();
        var written = new HashSet<string>();
        while (_schemas.FirstOrDefault(s => !written.Contains(s.Key)) is { Value: { } message })
        {
            written.Add(message.Name);
            _json.WritePropertyName(message.Name);
            WriteObject(message.Fields.InDeclarationOrder());
        }
        _json.WriteEndObject();
        _json.WriteEndObject();
    }

    private void WriteObject(IEnumerable<FieldDescriptor> fields)
    {
        _json.WriteStartObject();
        _json.WriteString("type", "object");
        _json.WriteStartObject("properties");
        foreach (FieldDescriptor field in fields)
        {
            _json.WritePropertyName(field.JsonName);
            WriteField(field);
        }
        _json.WriteEndObject();
        _json.WriteEndObject();
    }

    private void WriteField(FieldDescriptor field)
    {
        if (field.IsMap)
            WriteNested("object", "additionalProperties", field.MessageType.FindFieldByNumber(2));
        else if (field.IsRepeated)
            WriteNested("array", "items", field);
        else
            WriteType(field);
    }

    private void WriteNested(string type, string name, FieldDescriptor field)
    {
        _json.WriteStartObject();
        _json.WriteString("type", type);
        _json.WritePropertyName(name);
        WriteType(field);
        _json.WriteEndObject();
    }

    /// <summary>The type of one value of a field.</summary>
    private void WriteType(FieldDescriptor field)
    {
        if (field.FieldType == FieldType.Message && !JsonRequest.IsTime(field.MessageType))
        {
            WriteReference(field.MessageType);
            return;
        }
        (string type, string? format) = field.FieldType switch
        {
            FieldType.Bool => ("boolean", null),
            FieldType.Double => ("number", "double"),
            FieldType.Int32 => ("integer", "int32"),
            FieldType.UInt32 => ("integer", "uint32"),
            FieldType.Int64 => ("string", "int64"),
            FieldType.UInt64 => ("string", "uint64"),
            FieldType.Bytes => ("string", "byte"),
            FieldType.Message => ("string", field.MessageType == Timestamp.Descriptor ? "date-time" : null),
            FieldType.String or FieldType.Enum => ("string", (string?)null),
            _ => throw new InvalidOperationException($"{field.FullName} is {field.FieldType}."),
        };
        _json.WriteStartObject();
        _json.WriteString("type", type);
        if (format is not null)
            _json.WriteString("format", format);
        if (field.FieldType == FieldType.Enum)
        {
            _json.WriteStartArray("enum");
            foreach (EnumValueDescriptor value in field.EnumType.Values)
                _json.WriteStringValue(value.Name);
            _json.WriteEndArray();
        }
        _json.WriteEndObject();
    }

    private void WriteReference(MessageDescriptor message)
    {
        _schemas[message.Name] = message;
        WriteReference(message.Name);
    }

    private void WriteReference(string schema)
    {
        _json.WriteStartObject();
        _json.WriteString("$ref", $"#/components/schemas/{schema}");
        _json.WriteEndObject();
    }
}
