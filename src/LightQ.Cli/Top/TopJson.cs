using System.Text.Json.Serialization;

namespace LightQ.Cli.Top;

/// <summary>What <c>lightq top</c> writes for programs.</summary>
[JsonSourceGenerationOptions(
    PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower,
    UseStringEnumConverter = true,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull
)]
[JsonSerializable(typeof(TopReport))]
internal sealed partial class TopJson : JsonSerializerContext;
