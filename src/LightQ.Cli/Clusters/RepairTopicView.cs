using LightQ.Client.Administration;

namespace LightQ.Cli.Clusters;

/// <summary>The partitions of a topic that had lost something, and what became of them.</summary>
internal sealed record RepairTopicView(string Topic, IReadOnlyList<PartitionRepairInfo> Partitions);
