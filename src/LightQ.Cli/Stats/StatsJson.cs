using System.Text.Json.Serialization;

namespace LightQ.Cli.Stats;

/// <summary>The figures as JSON.</summary>
[JsonSourceGenerationOptions(
    PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower,
    UseStringEnumConverter = true,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull
)]
[JsonSerializable(typeof(TopicStatsView))]
[JsonSerializable(typeof(BrokerStatsView))]
internal sealed partial class StatsJson : JsonSerializerContext;
