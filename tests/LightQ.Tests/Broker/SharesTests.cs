using LightQ.Broker;
using Xunit;

namespace LightQ.Tests.Broker;

public sealed class SharesTests
{
    [Theory]
    [InlineData(50, 500)]
    [InlineData(75, 750)]
    [InlineData(100, 1000)]
    [InlineData(1, 10)]
    public void A_source_alone_gets_its_part_of_the_limit(int percent, int part) =>
        Assert.Equal(part, Take(new Shares(() => percent), "mallory", 1000));

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(7)]
    [InlineData(100)]
    public void However_many_sources_take_what_they_get_the_next_one_gets_something(int sources)
    {
        var shares = new Shares(() => 50);
        for (int i = 0; i < sources; i++)
            Take(shares, $"mallory {i}", 1000);
        Assert.InRange(shares.Taken, 500, 875 + sources);
        Assert.InRange(Take(shares, "alice", 1000), 1, 500);
    }

    [Fact]
    public void The_last_eighth_is_for_sources_that_have_nothing_yet()
    {
        var shares = new Shares(() => 50);
        for (int i = 0; i < 10; i++)
            Take(shares, $"mallory {i}", 1000);
        Assert.Equal(875 + 7, shares.Taken);
        Assert.Equal(1, Take(shares, "alice", 1000));
    }

    [Theory]
    [InlineData(1, 1)]
    [InlineData(2, 1)]
    [InlineData(3, 2)]
    public void The_first_of_a_source_needs_nothing_but_room(int most, int part)
    {
        var shares = new Shares(() => 1);
        Assert.Equal(1, Take(shares, "mallory", most));
        Assert.Equal(part, Take(new Shares(() => 50), "mallory", most));
        Assert.Equal(Admission.Admitted, new Shares(() => 1).TryTake("alice", most: 10, amount: 10));
    }

    [Fact]
    public void All_are_told_apart_from_one_that_has_its_share()
    {
        var shares = new Shares(() => 50);
        Assert.Equal(2, Take(shares, "mallory", 4));
        Assert.Equal(Admission.TooManyOfSource, shares.TryTake("mallory", 4));
        Assert.Equal(1, Take(shares, "alice", 4));
        Assert.Equal(1, Take(shares, "bob", 4));
        Assert.Equal(Admission.TooMany, shares.TryTake("carol", 4));
    }

    [Fact]
    public void A_part_that_is_set_for_sources_takes_the_place_of_their_shares()
    {
        var shares = new Shares(() => 50);
        for (int i = 0; i < 9; i++)
            Assert.Equal(Admission.Admitted, shares.TryTake("proxy", 10, mostOfSource: 9));
        Assert.Equal(Admission.TooManyOfSource, shares.TryTake("proxy", 10, mostOfSource: 9));
        Assert.Equal(Admission.TooMany, shares.TryTake("proxy", 9, mostOfSource: 20));
    }

    [Fact]
    public void What_is_counted_for_a_user_too_holds_the_user_to_its_share_wherever_it_comes_from()
    {
        var shares = new Shares(() => 50);
        for (int i = 0; i < 5; i++)
        {
            Assert.Equal(Admission.Admitted, shares.TryTake($"address {i}", 10));
            Assert.True(shares.TryJoin("alice", 10));
        }
        Assert.Equal(Admission.Admitted, shares.TryTake("address 5", 10));
        Assert.False(shares.TryJoin("alice", 10));
        Assert.True(shares.TryJoin("bob", 10));
        shares.Give("address 5", "bob");
        for (int i = 0; i < 5; i++)
            shares.Give($"address {i}", "alice");
        Assert.Equal((0, 0, 0), (shares.Taken, shares.Of("alice"), shares.Of("address 0")));
    }

    private static int Take(Shares shares, string source, int most)
    {
        int taken = 0;
        while (shares.TryTake(source, most) == Admission.Admitted)
            taken++;
        return taken;
    }
}
