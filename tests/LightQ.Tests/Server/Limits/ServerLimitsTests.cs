using System.Net;
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

    [Fact]
    public void An_address_has_a_share_of_the_descriptors_or_as_many_as_the_limit_of_its_connections_says()
    {
        IPAddress address = IPAddress.Parse("10.0.0.1");
        int all = Math.Min(DescriptorReserve.ForConnections, 1_100_000);
        Assert.SkipWhen(all < DescriptorReserve.ForConnections, "The system allows more descriptors than are tried.");
        Assert.InRange(Taken(new LightQServerOptions()), 1, all - 1);
        Assert.Equal(all, Taken(new LightQServerOptions { DataPlane = new() { MaxConnectionsPerAddress = 10 } }));
        Assert.Equal(all, Taken(new LightQServerOptions { Http = new() { MaxConnectionsPerAddress = 10 } }));

        int Taken(LightQServerOptions options)
        {
            var limits = new ServerLimits(options, new LimitRefusals(), TimeProvider.System, NullLogger.Instance);
            return Enumerable.Range(0, all).Count(_ => limits.TryTakeDescriptor(address));
        }
    }
}
