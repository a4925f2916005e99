using System.Text.Json.Serialization;
using LightQ.Client.Administration;

namespace LightQ.Cli.Clusters;

/// <summary>What the cluster commands write for programs.</summary>
[JsonSourceGenerationOptions(
    PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower,
    UseStringEnumConverter = true,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull
)]
[JsonSerializable(typeof(ClusterInfo))]
[JsonSerializable(typeof(DrainView))]
[JsonSerializable(typeof(MoveView))]
internal sealed partial class ClustersJson : JsonSerializerContext;
