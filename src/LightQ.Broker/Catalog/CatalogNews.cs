namespace LightQ.Broker.Catalog;

/// <summary>What a record has changed, for the broker to look at.</summary>
/// <param name="Topic">A topic that is new, changed or gone; null for none.</param>
/// <param name="ChangesRights">Whether somebody may do more or less than before.</param>
/// <param name="IsLocal">Whether a caller on this node has made the change, and says so itself.</param>
internal readonly record struct CatalogNews(Guid? Topic, bool ChangesRights, bool IsLocal);
