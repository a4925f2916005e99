namespace LightQ.Client.Administration;

/// <summary>What a node of a cluster does.</summary>
public enum NodeState
{
    /// <summary>It is heard of, and leads its share of the partitions.</summary>
    Alive = 1,

    /// <summary>It is heard of, and gives its partitions away: it drains, or stops.</summary>
    Draining = 2,

    /// <summary>It has not been heard of for too long, and leads nothing.</summary>
    Silent = 3,
}
