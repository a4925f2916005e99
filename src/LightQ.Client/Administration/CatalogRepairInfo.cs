namespace LightQ.Client.Administration;

/// <summary>What was found of a cluster's catalog, and what is done about it.</summary>
/// <param name="Damage">What it has lost; null when it is whole.</param>
/// <param name="Topics">The topics that the node knows.</param>
/// <param name="Users">The users that it knows.</param>
/// <param name="IsDone">Whether the catalog is written anew.</param>
public sealed record CatalogRepairInfo(string? Damage, int Topics, int Users, bool IsDone);
