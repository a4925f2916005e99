using System.Text.Json.Serialization;

namespace LightQ.Cli.Doctor;

/// <summary>What the doctor found, as JSON.</summary>
[JsonSourceGenerationOptions(
    PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower,
    UseStringEnumConverter = true,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull
)]
[JsonSerializable(typeof(DoctorView))]
internal sealed partial class DoctorJson : JsonSerializerContext;
