namespace LightQ.Broker.Groups;

/// <summary>One reason why a group, or a member, gets nothing at the moment.</summary>
/// <param name="Hold">The reason.</param>
/// <param name="Partition">The partition.</param>
/// <param name="Connection">The member's connection; null when it is the group's reason.</param>
/// <param name="Until">Until when, where that is known.</param>
/// <param name="Text">The reason in a sentence.</param>
public sealed record GroupReason(GroupHold Hold, uint Partition, uint? Connection, DateTimeOffset? Until, string Text);
