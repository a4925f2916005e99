using System.Buffers;
using System.Text;
using System.Text.Json;
using System.Text.Unicode;
using Google.Protobuf;
using Google.Protobuf.Reflection;
using Google.Protobuf.WellKnownTypes;
using LightQ.Broker;
using LightQ.Protocol;
using Microsoft.Extensions.Primitives;

namespace LightQ.Server.Json;

/// <summary>Makes a request of what HTTP carries of it.</summary>
internal static class JsonRequest
{
    private static readonly JsonParser Parser = new(JsonParser.Settings.Default);

    /// <summary>Reads a request.</summary>
    /// <param name="route">Whose it is.</param>
    /// <param name="path">What stands in the path, by field.</param>
    /// <param name="query">The parameters.</param>
    /// <param name="body">The body; empty for a request that says nothing more.</param>
    /// <exception cref="BrokerException">It is none of the method.</exception>
    public static IMessage Read(
        JsonRoute route,
        IReadOnlyDictionary<string, object?> path,
        IEnumerable<KeyValuePair<string, StringValues>> query,
        ReadOnlySpan<byte> body
    )
    {
        if (!route.HasBody && !body.IsEmpty)
            throw Refuse($"{route.Verb} {route.Pattern} takes no body; what it asks for are parameters");
        if (body.StartsWith(Encoding.UTF8.Preamble))
            body = body[Encoding.UTF8.Preamble.Length..];
        if (!Utf8.IsValid(body))
            throw Refuse("The body is no UTF-8");
        IMessage request = Parse(route, body.IsEmpty ? "{}"u8 : body, "The body");
        ReadQuery(route, query, request);
        foreach (FieldDescriptor field in route.PathFields)
        {
            string value = path[field.Name]?.ToString() ?? "";
            if (field.Accessor.GetValue(request) is string { Length: not 0 } said && said != value)
                throw Refuse($"{field.JsonName} is '{TopicName.Printable(said)}', and the path has another value");
            field.Accessor.SetValue(request, value);
        }
        return request;
    }

    private static void ReadQuery(
        JsonRoute route,
        IEnumerable<KeyValuePair<string, StringValues>> query,
        IMessage request
    )
    {
        var json = new ArrayBufferWriter<byte>();
        using var writer = new Utf8JsonWriter(json);
        writer.WriteStartObject();
        foreach ((string name, StringValues values) in query)
        {
            MessageDescriptor type = route.Method.InputType;
            FieldDescriptor? field = route.HasBody
                ? null
                : type.Fields.InDeclarationOrder().FirstOrDefault(f => f.Name == name || f.JsonName == name);
            if (field is null || !IsParameter(field))
                throw Refuse($"'{TopicName.Printable(name)}' is no parameter; allowed: {Allowed(route)}");
            if (field.IsRepeated)
            {
                writer.WriteStartArray(field.JsonName);
                foreach (string? item in values)
                    writer.WriteStringValue(item);
                writer.WriteEndArray();
                continue;
            }
            if (values is not [{ } value])
                throw Refuse($"The parameter {field.JsonName} is there {values.Count} times; allowed: once");
            if (field.FieldType == FieldType.Bool && value is "true" or "false")
                writer.WriteBoolean(field.JsonName, value == "true");
            else
                writer.WriteString(field.JsonName, value);
        }
        writer.WriteEndObject();
        writer.Flush();
        if (json.WrittenCount > "{}".Length)
            request.MergeFrom(Parse(route, json.WrittenSpan, "A parameter").ToByteString());
    }

    /// <summary>
    /// Whether a field can be a parameter: a value, or a list of texts, each in a parameter of that name.
    /// </summary>
    public static bool IsParameter(FieldDescriptor field) =>
        field.IsRepeated
            ? field.FieldType == FieldType.String
            : field.FieldType != FieldType.Message || IsTime(field.MessageType);

    /// <summary>Whether a message is a text in JSON.</summary>
    public static bool IsTime(MessageDescriptor type) => type == Duration.Descriptor || type == Timestamp.Descriptor;

    private static string Allowed(JsonRoute route)
    {
        IEnumerable<string> names = route
            .Method.InputType.Fields.InDeclarationOrder()
            .Where(f => !route.HasBody && IsParameter(f) && !route.PathFields.Contains(f))
            .Select(f => f.JsonName);
        return string.Join(", ", names.DefaultIfEmpty("none"));
    }

    private static IMessage Parse(JsonRoute route, ReadOnlySpan<byte> json, string what)
    {
        try
        {
            return Parser.Parse(JsonFields.Read(json, route.Method.InputType), route.Method.InputType);
        }
        // An invalid operation is a text with half of a character.
        catch (Exception e)
            when (e
                    is JsonException
                        or InvalidOperationException
                        or InvalidProtocolBufferException
                        or InvalidJsonException
            )
        {
            throw Refuse($"{what} is no {route.Method.InputType.Name} in JSON: {e.Message.TrimEnd('.')}");
        }
    }

    private static BrokerException Refuse(string problem) => new(ErrorCode.InvalidArgument, $"{problem}.");
}
