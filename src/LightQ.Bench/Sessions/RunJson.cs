using System.Text.Json.Serialization;

namespace LightQ.Bench.Sessions;

/// <summary>What a session tells its roles, as JSON.</summary>
[JsonSourceGenerationOptions(
    PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower,
    UseStringEnumConverter = true,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull
)]
[JsonSerializable(typeof(RunSpec))]
internal sealed partial class RunJson : JsonSerializerContext;
