namespace LightQ.Broker.Replication;

/// <summary>What an engine says of a stream as a whole.</summary>
/// <param name="IsThere">Whether there is such a stream.</param>
/// <param name="Bounds">The sequences held.</param>
/// <param name="Entries">How many entries are stored; null where the engine does not say.</param>
/// <param name="Altered">A setting that is not as it was made, and may remove entries; null for none.</param>
public readonly record struct StreamReport(bool IsThere, StreamBounds Bounds, ulong? Entries, string? Altered);
