using Google.Protobuf.Reflection;

namespace LightQ.Server.Json;

/// <summary>How a method is asked for over HTTP.</summary>
/// <param name="Verb">GET, POST, PUT or DELETE. POST and PUT have the request as their body, the others as
/// parameters.</param>
/// <param name="Pattern">The path; what stands in braces are fields of the request.</param>
/// <param name="Method">The method.</param>
internal sealed record JsonRoute(string Verb, string Pattern, MethodDescriptor Method)
{
    /// <summary>Whether the request is the body.</summary>
    public bool HasBody => Verb is "POST" or "PUT";

    /// <summary>The method's path over gRPC.</summary>
    public string Path { get; } = $"/{Method.Service.FullName}/{Method.Name}";

    /// <summary>The fields that stand in the path.</summary>
    public IReadOnlyList<FieldDescriptor> PathFields { get; } =
    [.. Pattern.Split('{').Skip(1).Select(part => Method.InputType.FindFieldByName(part.Split('}')[0]))];
}
