using LightQ.Server;
using LightQ.Server.Web;
using Xunit;

namespace LightQ.Tests.Server.Web;

public sealed class HostCheckTests
{
    [Theory]
    [InlineData("", "", true)]
    [InlineData("localhost", "", true)]
    [InlineData("LocalHost.", "", true)]
    [InlineData("a.localhost", "", true)]
    [InlineData("192.168.1.2", "", true)]
    [InlineData("[fe80::1]", "", true)]
    [InlineData("notlocalhost", "", false)]
    [InlineData("localhost.example", "", false)]
    [InlineData("127.0.0.1.example", "", false)]
    [InlineData("LightQ", "web, lightq", true)]
    [InlineData("lightq.example", "lightq", false)]
    [InlineData("a.b.example", "*.example", true)]
    [InlineData("example", "*.example", false)]
    [InlineData("anexample", "*.example", false)]
    [InlineData("any", "*", true)]
    public void Addresses_localhost_and_the_allowed_names_are_allowed(string host, string allowed, bool isAllowed) =>
        Assert.Equal(isAllowed, HostCheck.IsAllowed(host, allowed));

    [Theory]
    [InlineData("a b")]
    [InlineData("lightq,http://example.com")]
    [InlineData("a.*.example")]
    [InlineData("lightq:5702")]
    public void What_is_no_name_of_a_host_is_refused(string allowed) =>
        Assert.Throws<ArgumentOutOfRangeException>(() => new HttpOptions { AllowedHosts = allowed });
}
