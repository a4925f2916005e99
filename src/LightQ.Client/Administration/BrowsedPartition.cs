namespace LightQ.Client.Administration;

/// <summary>A partition as a page found it.</summary>
/// <param name="Partition">The partition.</param>
/// <param name="StartOffset">The first offset that it holds.</param>
/// <param name="EndOffset">One behind the last offset that consumers may see.</param>
public sealed record BrowsedPartition(int Partition, long StartOffset, long EndOffset);
