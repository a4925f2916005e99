using System.Text.Json.Serialization;
using LightQ.Client.Administration;

namespace LightQ.Cli.Clusters;

/// <summary>What the cluster commands write for programs.</summary>
[JsonSourceGenerationOptions(
    PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower,
    UseStringEnumConverter = true,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull
)]
[JsonSerializable(typeof(CatalogRepairInfo))]
[JsonSerializable(typeof(ClusterInfo))]
[JsonSerializable(typeof(UpgradeView))]
[JsonSerializable(typeof(BalanceResult))]
[JsonSerializable(typeof(DrainView))]
[JsonSerializable(typeof(InitView))]
[JsonSerializable(typeof(MoveView))]
[JsonSerializable(typeof(RemovedStreamsView))]
[JsonSerializable(typeof(RepairTopicView))]
[JsonSerializable(typeof(TryStart))]
[JsonSerializable(typeof(TryView))]
internal sealed partial class ClustersJson : JsonSerializerContext;

/// <summary>A broker's configuration file, whose keys are written as in the documents.</summary>
[JsonSourceGenerationOptions(WriteIndented = true, DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull)]
[JsonSerializable(typeof(TryConfiguration))]
internal sealed partial class ConfigurationJson : JsonSerializerContext;
