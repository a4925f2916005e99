namespace LightQ.Broker.Cluster;

/// <summary>What a node says of itself.</summary>
internal enum MemberState
{
    /// <summary>It takes partitions.</summary>
    Alive,

    /// <summary>It gives its partitions away.</summary>
    Draining,

    /// <summary>It is gone: the last that is heard of it.</summary>
    Left,
}
