using LightQ.Client;
using LightQ.Client.Administration;

namespace LightQ.Cli.Top;

/// <summary>One table for programs; only what the view shows is present.</summary>
internal sealed record TopReport(string View, DateTimeOffset Time)
{
    public TopTopic[]? Topics { get; init; }

    public TopGroup[]? Groups { get; init; }

    public ConnectionInfo[]? Connections { get; init; }

    public SubscriptionInfo[]? Subscribers { get; init; }

    public NodeInfo[]? Nodes { get; init; }

    public PartitionLeaderInfo[]? Partitions { get; init; }
}
