namespace LightQ.Broker.Groups;

/// <summary>A member of a group, as it is at a moment.</summary>
/// <param name="Connection">Its connection.</param>
/// <param name="Stream">Its stream there.</param>
/// <param name="InFlight">Messages it holds.</param>
/// <param name="MaxInFlight">How many it may hold; 0 for no limit.</param>
/// <param name="Credit">Bytes it may still be sent.</param>
/// <param name="IsAssigned">Whether the partition is its; of a topic with one partition it is everyone's.</param>
/// <param name="IsAlone">Whether its consumer has a message alone, and gets no other until that is settled.</param>
public readonly record struct MemberFigures(
    uint Connection,
    uint Stream,
    long InFlight,
    uint MaxInFlight,
    long Credit,
    bool IsAssigned,
    bool IsAlone = false
);
