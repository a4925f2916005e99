using System.Text.Json.Serialization;

namespace LightQ.Cli.Bench.Cluster;

/// <summary>The report as JSON.</summary>
[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower)]
[JsonSerializable(typeof(ClusterReport))]
internal sealed partial class ClusterJson : JsonSerializerContext;
