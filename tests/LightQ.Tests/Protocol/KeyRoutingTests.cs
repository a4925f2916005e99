using System.Text;
using LightQ.Protocol;
using Xunit;

namespace LightQ.Tests.Protocol;

public sealed class KeyRoutingTests
{
    /// <summary>From a bitwise CRC-32C, not from the code: other clients must find the same partitions.</summary>
    [Theory]
    [InlineData("", 0, 0, 0, 0)]
    [InlineData("a", 0, 0, 0, 816)]
    [InlineData("b", 0, 2, 0, 196)]
    [InlineData("42", 1, 0, 3, 459)]
    [InlineData("order-42", 0, 2, 2, 646)]
    [InlineData("ключ", 0, 1, 2, 942)]
    [InlineData("\0", 1, 2, 1, 849)]
    public void A_key_has_its_golden_partition(string key, int ofTwo, int ofThree, int ofFour, int of1024)
    {
        byte[] bytes = Encoding.UTF8.GetBytes(key);
        Assert.Equal(0, KeyRouting.PartitionOf(bytes, 1));
        Assert.Equal(ofTwo, KeyRouting.PartitionOf(bytes, 2));
        Assert.Equal(ofThree, KeyRouting.PartitionOf(bytes, 3));
        Assert.Equal(ofFour, KeyRouting.PartitionOf(bytes, 4));
        Assert.Equal(of1024, KeyRouting.PartitionOf(bytes, 1024));
    }

    [Fact]
    public void Keys_spread_over_the_partitions()
    {
        int[] counts = new int[16];
        for (int i = 0; i < 16_000; i++)
            counts[KeyRouting.PartitionOf(Encoding.UTF8.GetBytes($"customer-{i}"), counts.Length)]++;
        Assert.All(counts, count => Assert.InRange(count, 800, 1200));
    }

    [Theory]
    [InlineData("orders", "orders", null)]
    [InlineData("orders/0", "orders", 0)]
    [InlineData("orders/1023", "orders", 1023)]
    public void An_address_is_a_topic_or_one_of_its_partitions(string text, string topic, int? partition)
    {
        Assert.True(TopicAddress.TryParse(text, out TopicAddress address, out _));
        Assert.Equal(new TopicAddress(topic, partition), address);
        Assert.Equal(text, address.ToString());
    }

    [Theory]
    [InlineData("orders/1024", "'1024' is not a partition's number: 0 to 1023.")]
    [InlineData("orders/", "'' is not a partition's number: 0 to 1023.")]
    [InlineData("orders/-1", "'-1' is not a partition's number: 0 to 1023.")]
    [InlineData("orders/1/2", "'1/2' is not a partition's number: 0 to 1023.")]
    [InlineData("/1", "'' is not a topic's name: " + TopicName.Rule + ".")]
    public void Anything_else_is_refused_with_what_is_allowed(string text, string problem)
    {
        Assert.False(TopicAddress.TryParse(text, out _, out string said));
        Assert.Equal(problem, said);
    }
}
