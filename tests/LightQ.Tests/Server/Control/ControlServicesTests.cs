using LightQ.Server.Control;
using Xunit;

namespace LightQ.Tests.Server.Control;

public sealed class ControlServicesTests
{
    [Fact]
    public void The_services_that_are_shown_have_a_health_of_their_own()
    {
        Assert.Equal(
            ControlServices.Names,
            ControlServices
                .Shown()
                .Select(service => service.FullName)
                .Where(name => name.StartsWith("lightq.", StringComparison.Ordinal))
        );
    }
}
