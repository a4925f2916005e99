namespace LightQ.Client.Administration;

/// <summary>One reason why a consumer group, or a member of it, gets no messages at the moment.</summary>
/// <param name="Hold">The reason.</param>
/// <param name="Partition">The partition.</param>
/// <param name="ConnectionId">The member's connection; null when the reason concerns the whole group.</param>
/// <param name="Until">The time until which the reason holds, if that is known.</param>
/// <param name="Text">The reason in a sentence.</param>
public sealed record GroupReason(GroupHold Hold, int Partition, long? ConnectionId, DateTimeOffset? Until, string Text);
