using LightQ.Protocol;

namespace LightQ.Client;

/// <summary>A consumer group as it stands.</summary>
/// <param name="Topic">The topic's name.</param>
/// <param name="Group">The group's name.</param>
/// <param name="SettleMode">Who says that a message is done.</param>
/// <param name="IsPaused">Whether deliveries are stopped.</param>
/// <param name="MembersCount">Members, counted by subscriptions: a consumer has one on every partition it reads.</param>
/// <param name="Lag">Messages that are not settled, those that members hold included.</param>
public sealed record GroupInfo(string Topic, string Group, SettleMode SettleMode, bool IsPaused, int MembersCount, long Lag)
{
    /// <summary>The partitions, in order; empty in a list of groups.</summary>
    public IReadOnlyList<GroupPartitionInfo> Partitions { get; init; } = [];
}
