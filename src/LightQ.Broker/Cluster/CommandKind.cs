namespace LightQ.Broker.Cluster;

/// <summary>What a node asks of another.</summary>
internal enum CommandKind
{
    /// <summary>To hand a partition over; or, without one, all that it leads.</summary>
    Move = 0,

    /// <summary>To say what it holds of a partition.</summary>
    Inspect = 1,

    /// <summary>To write a partition's stream anew from its copy: it begins, and does not wait for the end.</summary>
    Repair = 2,
}
