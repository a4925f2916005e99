using System.Text.Json.Serialization;

namespace LightQ.Cli.Journals;

/// <summary>What the journal commands write for programs.</summary>
[JsonSourceGenerationOptions(
    PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower,
    UseStringEnumConverter = true,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull
)]
[JsonSerializable(typeof(VerifyView))]
[JsonSerializable(typeof(RepairView[]))]
internal sealed partial class JournalsJson : JsonSerializerContext;
