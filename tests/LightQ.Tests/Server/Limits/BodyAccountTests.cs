using System.Net;
using LightQ.Broker;
using LightQ.Client;
using LightQ.Server;
using LightQ.Server.Limits;
using Microsoft.Extensions.Logging.Abstractions;
using Xunit;

namespace LightQ.Tests.Server.Limits;

public sealed class BodyAccountTests
{
    private static readonly IPAddress Mallory = IPAddress.Parse("10.0.0.1"),
        Alice = IPAddress.Parse("10.0.0.2");

    private readonly ServerLimits _limits = new(
        new LightQServerOptions { DataPlane = new() { MaxAssemblyBytes = 1_000_000 } },
        new LimitRefusals(),
        TimeProvider.System,
        NullLogger.Instance
    );

    [Fact]
    public void What_one_address_has_of_bodies_leaves_room_to_others_and_is_given_back()
    {
        var first = new BodyAccount(_limits, Mallory);
        var second = new BodyAccount(_limits, Mallory);
        var other = new BodyAccount(_limits, Alice);
        first.Set(400_000);
        Assert.Equal(400_000 - BodyAccount.Free, _limits.Bodies.Taken);
        BrokerException refused = Assert.Throws<BrokerException>(() => second.Set(400_000));
        Assert.Equal(ErrorCode.ResourceExhausted, refused.Code);
        Assert.Contains("DataPlane:MaxAssemblyBytes", refused.Message, StringComparison.Ordinal);
        other.Set(300_000);
        first.Set(10_000);
        first.Clear();
        second.Clear();
        other.Clear();
        Assert.Equal(0, _limits.Bodies.Taken);
    }

    [Fact]
    public void A_user_has_one_share_wherever_it_comes_from()
    {
        var first = new BodyAccount(_limits, Mallory) { User = "user:mallory" };
        var second = new BodyAccount(_limits, Alice) { User = "user:mallory" };
        first.Set(400_000);
        Assert.Throws<BrokerException>(() => second.Set(400_000));
        first.Clear();
        second.Set(400_000);
        second.Clear();
        Assert.Equal((0, 0), (_limits.Bodies.Taken, _limits.Bodies.Of("user:mallory")));
    }
}
