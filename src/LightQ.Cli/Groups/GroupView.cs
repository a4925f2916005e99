using LightQ.Client;
using LightQ.Client.Administration;

namespace LightQ.Cli.Groups;

/// <summary>A group as the tool shows it.</summary>
internal sealed record GroupView(
    string Topic,
    string Group,
    string SettledBy,
    bool Paused,
    int Clients,
    int Members,
    long Lag
)
{
    /// <summary>The age of the oldest message that is not settled; absent when it is not known.</summary>
    public double? OldestUnsettledSeconds { get; init; }

    public long InFlight { get; init; }

    public long Delivered { get; init; }

    public long Redelivered { get; init; }

    public long DeadLettered { get; init; }

    /// <summary>The clients; absent in a list.</summary>
    public IReadOnlyList<GroupClientInfo>? Connections { get; init; }

    /// <summary>The partitions; absent in a list.</summary>
    public IReadOnlyList<GroupPartitionInfo>? Partitions { get; init; }

    public static GroupView From(GroupInfo info) =>
        new(
            info.Topic,
            info.Group,
            info.SettleMode == SettleMode.Explicit ? "members" : "broker",
            info.IsPaused,
            info.ClientsCount,
            info.MembersCount,
            info.Lag
        )
        {
            OldestUnsettledSeconds = info.OldestUnsettledAge?.TotalSeconds,
            InFlight = info.InFlight,
            Delivered = info.Delivered,
            Redelivered = info.Redelivered,
            DeadLettered = info.DeadLettered,
            Connections = info.Partitions.Count == 0 ? null : info.Clients,
            Partitions = info.Partitions.Count == 0 ? null : info.Partitions,
        };
}
