using System.Text.Json.Serialization;

namespace LightQ.Cli.Options;

/// <summary>The file of contexts as JSON. What this version does not know is an error, and is not lost.</summary>
[JsonSourceGenerationOptions(
    PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull,
    UnmappedMemberHandling = JsonUnmappedMemberHandling.Disallow,
    WriteIndented = true
)]
[JsonSerializable(typeof(ContextDocument))]
internal sealed partial class ContextJson : JsonSerializerContext;
