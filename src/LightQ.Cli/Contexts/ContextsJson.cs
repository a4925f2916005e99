using System.Text.Json.Serialization;

namespace LightQ.Cli.Contexts;

/// <summary>What the context commands write for programs.</summary>
[JsonSourceGenerationOptions(
    PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull
)]
[JsonSerializable(typeof(ContextView))]
[JsonSerializable(typeof(ContextView[]))]
[JsonSerializable(typeof(ContextChangeView))]
internal sealed partial class ContextsJson : JsonSerializerContext;
