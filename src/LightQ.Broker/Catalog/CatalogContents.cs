using LightQ.Broker.Users;

namespace LightQ.Broker.Catalog;

/// <summary>What a catalog says, of a broker that does not run.</summary>
/// <param name="Users">The users and tokens.</param>
/// <param name="Topics">The names of the topics.</param>
public sealed record CatalogContents(UserTable Users, IReadOnlySet<string> Topics);
