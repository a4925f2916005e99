namespace LightQ.Client.Administration;

/// <summary>How far the drain of a node is.</summary>
/// <param name="PartitionsLeft">The partitions that it still leads.</param>
/// <param name="EntriesLeft">
/// Entries of their streams that the nodes which are about to take them over have yet to read. Clients do not wait for
/// that.
/// </param>
public sealed record DrainProgress(int PartitionsLeft, long EntriesLeft);
