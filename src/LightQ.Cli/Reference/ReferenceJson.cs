using System.Text.Json.Serialization;

namespace LightQ.Cli.Reference;

/// <summary>What producer and consumer saw, as JSON.</summary>
[JsonSourceGenerationOptions(
    PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower,
    UseStringEnumConverter = true,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull
)]
[JsonSerializable(typeof(TransferResult[]))]
internal sealed partial class ReferenceJson : JsonSerializerContext;
