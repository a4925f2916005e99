using System.Globalization;
using LightQ.Broker;
using LightQ.Client;
using LightQ.Server.Security;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.Tests.Server.Security;

public sealed class LoginTokensTests
{
    private readonly ManualTime _time = new();
    private readonly LimitRefusals _refusals = new();
    private readonly LoginTokens _tokens;

    public LoginTokensTests() => _tokens = new LoginTokens(() => 2, _refusals, _time);

    [Fact]
    public void A_user_has_so_many_until_one_is_given_back_or_ends()
    {
        Add("1");
        _time.Advance(TimeSpan.FromMinutes(1));
        Add("2");
        BrokerException refused = Assert.Throws<BrokerException>(() => Add("3"));
        Assert.Equal((ErrorCode.ResourceExhausted, 1), (refused.Code, _refusals["MaxLoginsPerUser"]));
        Assert.Contains("the limit (MaxLoginsPerUser) is 2", refused.Message, StringComparison.Ordinal);
        Assert.True(_tokens.TryRemove("2", out Principal? given));
        Assert.False(_tokens.TryRemove("2", out _));
        Add("3");
        Assert.Throws<BrokerException>(() => Add("4"));
        _time.Advance(TimeSpan.FromMinutes(14)); // The first ends.
        Assert.Equal((true, null), (_tokens.TryGet("1", out Principal? ended), ended));
        Add("4");
        Assert.Throws<BrokerException>(() => Add("5"));
        Assert.Equal((false, "admin"), (_tokens.TryGet("1", out _), given.Name));
    }

    [Fact]
    public void What_has_ended_and_what_counts_no_more_is_not_kept()
    {
        for (int i = 0; i < 100; i++)
        {
            Add(i.ToString(CultureInfo.InvariantCulture), isCurrent: false);
            Assert.InRange(_tokens.Count, 1, 2);
        }
        _time.Advance(TimeSpan.FromMinutes(15));
        Add("last");
        Assert.Equal(1, _tokens.Count);
    }

    private void Add(string hash, bool isCurrent = true) => _tokens.Add(hash, Principal.Admin(), _ => isCurrent);
}
