using System.Text.Json.Serialization;

namespace LightQ.Cli.Audits;

/// <summary>What the audit commands write for programs.</summary>
[JsonSourceGenerationOptions(
    PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower,
    UseStringEnumConverter = true,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull
)]
[JsonSerializable(typeof(AuditReportView))]
[JsonSerializable(typeof(AuditLineView))]
internal sealed partial class AuditsJson : JsonSerializerContext;
