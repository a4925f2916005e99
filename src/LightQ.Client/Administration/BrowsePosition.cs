namespace LightQ.Client.Administration;

/// <summary>Where a page goes on.</summary>
/// <param name="Partition">The partition.</param>
/// <param name="Offset">The first offset.</param>
public readonly record struct BrowsePosition(int Partition, long Offset);
