using LightQ.Client;
using LightQ.Protocol;

namespace LightQ.Cli.Commands;

/// <summary>A group as the tool shows it.</summary>
internal sealed record GroupView(string Topic, string Group, string SettledBy, bool Paused, int Members, long Lag, IReadOnlyList<GroupPartitionInfo>? Partitions)
{
    public static GroupView From(GroupInfo info) => new(
        info.Topic, info.Group, info.SettleMode == SettleMode.Explicit ? "members" : "broker", info.IsPaused, info.MembersCount, info.Lag, info.Partitions.Count == 0 ? null : info.Partitions);
}
