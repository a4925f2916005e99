using LightQ.Broker;
using LightQ.Broker.Logs;
using LightQ.Broker.Users;
using LightQ.Storage.Spilling;
using Xunit;

namespace LightQ.Tests.Broker;

/// <summary>What one user's slow subscriptions spill leaves room for those of others.</summary>
public sealed class SpillShareTests : EngineTest
{
    private const uint Mallory = 17,
        Alice = 18;

    [Fact]
    public void A_user_whose_subscriptions_spill_most_leaves_a_share_to_others_and_gets_it_back()
    {
        var refusals = new LimitRefusals();
        var options = new BrokerOptions { SpillBytes = 100_000 };
        Spills.Dispose();
        Spills = OpenSpills(
            new() { MaxBytes = options.SpillBytes, IsShareUsedUp = new SpillShare(() => options, refusals).IsUsedUp }
        );
        byte[] run = new byte[10_000];
        SpillQueue first = Spills.Open(() => { }, _ => { }, Mallory),
            second = Spills.Open(() => { }, _ => { }, Mallory),
            other = Spills.Open(() => { }, _ => { }, Alice);
        for (int i = 0; i < 5; i++)
            Assert.Equal(SpillResult.Kept, (i % 2 == 0 ? first : second).TryAdd(run, i, i + 1));
        Assert.Equal(SpillResult.ShareFull, second.TryAdd(run, 5, 6));
        Assert.Equal(1, refusals["SpillBytes"]);
        Assert.Equal(SpillResult.Kept, other.TryAdd(run, 0, 1));
        first.Dispose();
        Assert.Equal(SpillResult.Kept, second.TryAdd(run, 5, 6));
        second.Dispose();
        other.Dispose();
        Assert.Equal(0, Spills.Bytes);
    }

    [Theory]
    [InlineData(UserNumber.Admin)]
    [InlineData(UserNumber.None)]
    public void Admin_and_clients_without_a_login_have_all_that_there_is(uint user)
    {
        var share = new SpillShare(() => new BrokerOptions { SpillBytes = 100 }, new LimitRefusals());
        Assert.False(share.IsUsedUp(user, own: 99, all: 99, amount: 1));
        Assert.True(share.IsUsedUp(Mallory, own: 50, all: 50, amount: 1));
    }
}
