using LightQ.Broker.Cluster;
using Xunit;

namespace LightQ.ClusterTests.Members;

/// <summary>Which node is to lead which partition.</summary>
public sealed class PlacementTests
{
    private const uint Partitions = 3_000;

    private static readonly Guid Topic = new("6e6f6465-7320-6167-7265-65206f6e2069");

    [Fact]
    public void Partitions_are_spread_evenly()
    {
        Dictionary<string, int> led = Leaders("a", "b", "c").CountBy(node => node).ToDictionary();
        Assert.Equal(3, led.Count);
        Assert.All(led.Values, count => Assert.InRange(count, 850, 1_150));
    }

    [Fact]
    public void Partition_zero_of_many_topics_is_spread_evenly_too()
    {
        var random = new Random(3);
        byte[] id = new byte[16];
        Dictionary<string, int> led = Enumerable
            .Range(0, (int)Partitions)
            .Select(_ =>
            {
                random.NextBytes(id);
                return Placement.Order(["lq-1", "lq-2", "lq-3"], new PartitionId(new Guid(id), 0))[0];
            })
            .CountBy(node => node)
            .ToDictionary();
        Assert.All(led.Values, count => Assert.InRange(count, 850, 1_150));
    }

    [Fact]
    public void A_node_that_goes_moves_only_what_it_led()
    {
        string[] before = Leaders("a", "b", "c"),
            after = Leaders("a", "c");
        Assert.All(before.Zip(after), pair => Assert.True(pair.First == "b" || pair.First == pair.Second));
    }

    [Fact]
    public void A_node_that_comes_takes_its_share_and_moves_nothing_else()
    {
        string[] before = Leaders("a", "b", "c"),
            after = Leaders("a", "b", "c", "d");
        Assert.All(before.Zip(after), pair => Assert.True(pair.Second == "d" || pair.First == pair.Second));
        Assert.InRange(after.Count(node => node == "d"), 600, 900);
    }

    [Fact]
    public void The_second_choice_of_what_a_node_leads_is_spread_evenly()
    {
        Dictionary<string, int> second = Enumerable
            .Range(0, (int)Partitions)
            .Select(i => Placement.Order(["a", "b", "c"], new PartitionId(Topic, (uint)i)))
            .Where(order => order[0] == "b")
            .CountBy(order => order[1])
            .ToDictionary();
        Assert.Equal(2, second.Count);
        Assert.All(second.Values, count => Assert.InRange(count, 400, 600));
    }

    [Fact]
    public void Nodes_of_all_versions_agree() =>
        Assert.Equal(8222809761630078832UL, Placement.Weight("lq-1", new PartitionId(Topic, 7)));

    private static string[] Leaders(params string[] nodes) =>
        [
            .. Enumerable
                .Range(0, (int)Partitions)
                .Select(i => Placement.Order(nodes, new PartitionId(Topic, (uint)i))[0]),
        ];
}
