using System.Text.Json.Serialization;

namespace LightQ.Bench.Fanout;

/// <summary>What a fan-out tells its roles, as JSON.</summary>
[JsonSourceGenerationOptions(
    PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower,
    UseStringEnumConverter = true,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull
)]
[JsonSerializable(typeof(FanoutSpec))]
internal sealed partial class FanoutJson : JsonSerializerContext;
