namespace LightQ.Broker.Cluster;

/// <summary>What a node is to a partition, as it says itself.</summary>
internal enum PartitionStand
{
    /// <summary>Nothing more than the others.</summary>
    Follows,

    /// <summary>It claims the partition: the others wait.</summary>
    Claims,

    /// <summary>It leads the partition.</summary>
    Leads,

    /// <summary>It is placed first, and asks the leader to hand the partition over.</summary>
    Wants,

    /// <summary>It leads the partition no longer.</summary>
    Released,

    /// <summary>It is to take the partition over, and reads what its journal lacks.</summary>
    Prepares,

    /// <summary>It is to take the partition over, and its journal lacks next to nothing.</summary>
    Ready,

    /// <summary>It cannot read the partition, or keep its copy: others are to lead it.</summary>
    Unable,
}
