namespace LightQ.Client.Administration;

/// <summary>Where a message is that was published again.</summary>
/// <param name="Topic">The topic.</param>
/// <param name="Partition">The partition.</param>
/// <param name="Offset">
/// Its new offset; of a delayed message the one that it was stored at, and -1 for a duplicate whose offset is not known
/// any more.
/// </param>
/// <param name="IsDuplicate">Whether it was not stored, because a message with its id is.</param>
/// <param name="Durability">How safe it is.</param>
public sealed record RepublishResult(string Topic, int Partition, long Offset, bool IsDuplicate, Durability Durability);
