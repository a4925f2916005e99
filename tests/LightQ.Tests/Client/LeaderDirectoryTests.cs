using LightQ.Client.Administration;
using LightQ.Protocol.Control;
using Xunit;

namespace LightQ.Tests.Client;

/// <summary>What the client reads of a cluster's metadata.</summary>
public sealed class LeaderDirectoryTests
{
    [Fact]
    public void A_leader_is_found_by_topic_partition_and_epoch()
    {
        var metadata = new ClusterMetadata
        {
            Nodes =
            {
                new ClusterNode { Name = "n1", DataAddress = "h1:5700" },
                new ClusterNode { Name = "n2", DataAddress = "h2:5700" },
            },
            Partitions =
            {
                new PartitionLeader
                {
                    Topic = "orders",
                    Partition = 0,
                    Epoch = 3,
                },
                new PartitionLeader
                {
                    Topic = "orders",
                    Partition = 1,
                    Node = "n2",
                    Epoch = 4,
                },
                new PartitionLeader
                {
                    Topic = "ticks",
                    Partition = 0,
                    Node = "n1",
                },
                new PartitionLeader
                {
                    Topic = "lost",
                    Partition = 0,
                    Node = "n9",
                    Epoch = 1,
                },
            },
        };
        Assert.Null(LeaderDirectory.Find(metadata, "orders", 0, 0));
        Assert.Equal("h2:5700", LeaderDirectory.Find(metadata, "orders", 1, 4));
        Assert.Null(LeaderDirectory.Find(metadata, "orders", 1, 5));
        Assert.Equal("h2:5700", LeaderDirectory.Find(metadata, "orders", null, 0));
        Assert.Equal("h1:5700", LeaderDirectory.Find(metadata, "ticks", 0, 7));
        Assert.Null(LeaderDirectory.Find(metadata, "lost", 0, 0));
        Assert.Null(LeaderDirectory.Find(metadata, "other", null, 0));
    }
}
