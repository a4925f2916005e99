using System.Text.Json.Serialization;

namespace LightQ.Bench.InProcess;

/// <summary>What the consumer's process of a hand-over is told, as JSON.</summary>
[JsonSourceGenerationOptions(
    PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower,
    UseStringEnumConverter = true,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull
)]
[JsonSerializable(typeof(HandOverSpec))]
[JsonSerializable(typeof(HandOverTask))]
internal sealed partial class HandOverJson : JsonSerializerContext;
