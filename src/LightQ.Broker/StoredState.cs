namespace LightQ.Broker;

/// <summary>What a broker keeps on the disk beside messages.</summary>
public enum StoredState
{
    /// <summary>Topics, named producers, users, rights and tokens.</summary>
    Catalog,

    /// <summary>What groups have settled.</summary>
    Positions,

    /// <summary>The catalog of a cluster, which is in the replicated log.</summary>
    ClusterCatalog,
}
