using System.Text.Json.Serialization;

namespace LightQ.Bench.Roles;

/// <summary>What roles tell their parents, as JSON.</summary>
[JsonSourceGenerationOptions(
    PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower,
    UseStringEnumConverter = true,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull
)]
[JsonSerializable(typeof(RoleMessage))]
internal sealed partial class RoleJson : JsonSerializerContext;
