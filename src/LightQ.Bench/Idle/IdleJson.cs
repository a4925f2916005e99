using System.Text.Json.Serialization;

namespace LightQ.Bench.Idle;

/// <summary>What the processes with idle connections are told, as JSON.</summary>
[JsonSourceGenerationOptions(
    PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower,
    UseStringEnumConverter = true,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull
)]
[JsonSerializable(typeof(IdleSpec))]
internal sealed partial class IdleJson : JsonSerializerContext;
