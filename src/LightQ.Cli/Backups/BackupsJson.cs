using System.Text.Json.Serialization;

namespace LightQ.Cli.Backups;

/// <summary>What the commands for backups write for programs.</summary>
[JsonSourceGenerationOptions(
    PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower,
    UseStringEnumConverter = true,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull
)]
[JsonSerializable(typeof(BackupView))]
internal sealed partial class BackupsJson : JsonSerializerContext;
