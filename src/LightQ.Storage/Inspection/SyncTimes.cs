namespace LightQ.Storage.Inspection;

/// <summary>How long syncs took.</summary>
/// <param name="Count">How many were measured.</param>
/// <param name="Median">Half of them took no longer.</param>
/// <param name="P99">All but one in a hundred took no longer.</param>
public sealed record SyncTimes(int Count, TimeSpan Median, TimeSpan P99);
