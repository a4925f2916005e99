using System.Text.Json.Serialization;

namespace LightQ.Cli.Quickstart;

/// <summary>What the quickstart found, as JSON.</summary>
[JsonSourceGenerationOptions(
    PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower,
    UseStringEnumConverter = true,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull
)]
[JsonSerializable(typeof(QuickstartView))]
internal sealed partial class QuickstartJson : JsonSerializerContext;
