using LightQ.Broker;
using LightQ.Server;
using LightQ.Server.Limits;
using LightQ.Tests.Shared;
using Microsoft.Extensions.Logging.Abstractions;
using Xunit;

namespace LightQ.Tests.Server.Limits;

public sealed class ServerLimitsTests
{
    [Fact]
    public void A_flood_of_refusals_of_one_kind_has_ten_lines_a_second_and_the_next_says_how_many_had_none()
    {
        var time = new ManualTime();
        var limits = new ServerLimits(new LightQServerOptions(), new LimitRefusals(), time, NullLogger.Instance);

        Assert.Equal(10, Enumerable.Range(0, 130).Count(attempt => limits.MayLogRefusal("login", out _)));
        Assert.True(limits.MayLogRefusal("data", out string other));
        Assert.Equal("", other);
        time.Advance(TimeSpan.FromSeconds(1));
        Assert.True(limits.MayLogRefusal("login", out string unsaid));
        Assert.Equal(" (120 more of these had no line)", unsaid);
        Assert.True(limits.MayLogRefusal("login", out unsaid));
        Assert.Equal("", unsaid);
    }
}
