namespace LightQ.Broker.Groups;

/// <summary>Counts of a group since the broker started.</summary>
/// <param name="Delivered">Messages that members were given, each time counted.</param>
/// <param name="Redelivered">Those of them that a member had been given before.</param>
/// <param name="DeadLettered">Messages that are safe in the dead-letter topic.</param>
public readonly record struct GroupCounts(long Delivered, long Redelivered, long DeadLettered)
{
    /// <summary>Both together.</summary>
    public GroupCounts Plus(in GroupCounts other) =>
        new(Delivered + other.Delivered, Redelivered + other.Redelivered, DeadLettered + other.DeadLettered);
}
