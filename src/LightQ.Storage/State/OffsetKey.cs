namespace LightQ.Storage.State;

/// <summary>The group and partition of a position.</summary>
/// <param name="Group">The consumer group.</param>
/// <param name="TopicId">The topic.</param>
/// <param name="Partition">The topic's partition.</param>
public readonly record struct OffsetKey(string Group, Guid TopicId, int Partition);
