namespace LightQ.Broker.Replication;

/// <summary>Which sequences a replicated stream holds.</summary>
/// <param name="First">The first that is still stored; one above <paramref name="Last"/> when none is.</param>
/// <param name="Last">The last that was ever given out; 0 when none was.</param>
public readonly record struct StreamBounds(ulong First, ulong Last);
