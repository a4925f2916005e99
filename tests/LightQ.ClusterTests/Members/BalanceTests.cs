using LightQ.Broker.Cluster;
using Xunit;

namespace LightQ.ClusterTests.Members;

/// <summary>Partitions are spread evenly, topic by topic and all together, with few moves.</summary>
public sealed class BalanceTests
{
    private static readonly string[] Three = ["a", "b", "c"];

    [Theory]
    [InlineData(1)]
    [InlineData(3)]
    [InlineData(4)]
    [InlineData(8)]
    public void New_topics_are_spread_evenly_however_their_ids_fall(int partitions)
    {
        var random = new Random(7);
        List<PlacedPartition> all = [];
        for (int topic = 0; topic < 50; topic++)
        {
            var id = NewId(random);
            all.AddRange(Enumerable.Range(0, partitions).Select(i => New(id, i)));
            IReadOnlyDictionary<PartitionId, string> places = Balance.Of(all, Three);
            Assert.Equal(all.Count, places.Count);
            AssertEven(places.Values, Three);
            foreach (IGrouping<Guid, string> one in places.GroupBy(p => p.Key.Topic, p => p.Value))
                AssertEven(one, Three);
            all = [.. all.Select(p => p with { Holder = places[p.Id] })];
        }
    }

    [Fact]
    public void What_is_even_stays_whatever_the_hashes_say()
    {
        List<PlacedPartition> all = Placed(12, i => Three[i % 3]);
        Assert.Equal(0, Moves(all, Three));
    }

    [Fact]
    public void A_node_that_comes_gets_its_share_and_nothing_else_moves()
    {
        List<PlacedPartition> all = Placed(12, i => Three[i % 3]);
        IReadOnlyDictionary<PartitionId, string> places = Balance.Of(all, [.. Three, "d"]);
        Assert.Equal(3, places.Values.Count(node => node == "d"));
        Assert.All(all, p => Assert.True(places[p.Id] == p.Holder || places[p.Id] == "d"));
    }

    [Fact]
    public void What_a_node_led_that_goes_is_shared_out_and_nothing_else_moves()
    {
        List<PlacedPartition> all = Placed(12, i => Three[i % 3]);
        IReadOnlyDictionary<PartitionId, string> places = Balance.Of(all, ["a", "c"]);
        AssertEven(places.Values, "a", "c");
        Assert.All(all, p => Assert.True(p.Holder == "b" || places[p.Id] == p.Holder));
    }

    [Fact]
    public void What_an_operator_has_moved_stays_and_does_not_count()
    {
        List<PlacedPartition> all =
        [
            .. Placed(6, i => Three[i % 3]).Select(p => p.Holder == "a" ? p with { IsPinned = true, Holder = "b" } : p),
        ];
        Assert.Equal(1, Moves(all, Three)); // a has none but for what was moved, and gets one of those that count.
        Assert.All(all.Where(p => p.IsPinned), p => Assert.Equal("b", Balance.Of(all, Three)[p.Id]));
    }

    [Fact]
    public void A_node_that_cannot_serve_a_partition_does_not_get_it_and_one_that_none_can_serve_is_left_out()
    {
        Guid topic = Guid.NewGuid();
        List<PlacedPartition> all =
        [
            new(new(topic, 0), "a", IsPinned: false, ["a", "b"]),
            new(new(topic, 1), "", IsPinned: false, Three),
        ];
        IReadOnlyDictionary<PartitionId, string> places = Balance.Of(all, Three);
        Assert.Equal("c", places[new(topic, 0)]);
        Assert.False(places.ContainsKey(new(topic, 1)));
    }

    [Fact]
    public void All_nodes_find_the_same_places()
    {
        List<PlacedPartition> all = Placed(20, i => i % 4 == 0 ? "" : Three[i % 2]);
        IReadOnlyDictionary<PartitionId, string> one = Balance.Of(all, Three),
            other = Balance.Of(Enumerable.Reverse(all), ["c", "a", "b"]);
        Assert.All(one, place => Assert.Equal(place.Value, other[place.Key]));
    }

    private static PlacedPartition New(Guid topic, int partition) =>
        new(new PartitionId(topic, (uint)partition), "", IsPinned: false, []);

    private static List<PlacedPartition> Placed(int partitions, Func<int, string> holder)
    {
        Guid topic = NewId(new Random(partitions));
        return [.. Enumerable.Range(0, partitions).Select(i => New(topic, i) with { Holder = holder(i) })];
    }

    private static int Moves(List<PlacedPartition> all, string[] nodes)
    {
        IReadOnlyDictionary<PartitionId, string> places = Balance.Of(all, nodes);
        return all.Count(p => places[p.Id] != p.Holder);
    }

    private static void AssertEven(IEnumerable<string> places, params string[] nodes)
    {
        int[] shares = [.. nodes.Select(node => places.Count(place => place == node))];
        Assert.True(shares.Max() - shares.Min() < 2, string.Join(' ', places));
    }

    private static Guid NewId(Random random)
    {
        byte[] id = new byte[16];
        random.NextBytes(id);
        return new Guid(id);
    }
}
