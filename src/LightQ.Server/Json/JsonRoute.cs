using Google.Protobuf.Reflection;

namespace LightQ.Server.Json;

/// <summary>How a method is asked for over HTTP.</summary>
/// <param name="verb">GET, POST, PUT or DELETE. POST and PUT have the request as their body, the others as
/// parameters.</param>
/// <param name="pattern">The path; what stands in braces are fields of the request.</param>
/// <param name="path">The method's path over gRPC.</param>
/// <param name="find">Finds the method.</param>
internal sealed class JsonRoute(string verb, string pattern, string path, Func<string, MethodDescriptor> find)
{
    // Not before somebody asks: making the descriptors of all methods takes a quarter of a broker's start.
    private readonly Lazy<MethodDescriptor> _method = new(() => find(path));
    private IReadOnlyList<FieldDescriptor>? _pathFields;

    public string Verb => verb;

    public string Pattern => pattern;

    public string Path => path;

    public MethodDescriptor Method => _method.Value;

    /// <summary>Whether the request is the body.</summary>
    public bool HasBody => verb is "POST" or "PUT";

    /// <summary>The field of the path that names the topic on which the method demands a right; null where none does.
    /// </summary>
    public string? TopicField { get; } =
        pattern.Contains("/topics/{topic}", StringComparison.Ordinal) ? "topic"
        : pattern.Contains("/topics/{name}", StringComparison.Ordinal) ? "name"
        : null;

    /// <summary>The fields that stand in the path.</summary>
    public IReadOnlyList<FieldDescriptor> PathFields =>
        _pathFields ??= [
            .. pattern.Split('{').Skip(1).Select(part => Method.InputType.FindFieldByName(part.Split('}')[0])),
        ];
}
