using LightQ.Server.Hosting;
using Xunit;
using static LightQ.Grpc.Health.V1.HealthCheckResponse.Types;

namespace LightQ.Tests.Server;

public sealed class ReadinessTests
{
    [Fact]
    public void Health_follows_the_life_of_the_server()
    {
        var readiness = new Readiness();
        Assert.Equal(("starting", ServingStatus.NotServing, null), (readiness.NotReadyReason, readiness.Health.GetStatus(""), readiness.Health.GetStatus("a")));
        readiness.Begin(["a"]);
        Assert.Equal((null, ServingStatus.Serving, ServingStatus.Serving), (readiness.NotReadyReason, readiness.Health.GetStatus(""), readiness.Health.GetStatus("a")));
        readiness.End(["a"]);
        Assert.Equal(("stopping", ServingStatus.NotServing, ServingStatus.NotServing), (readiness.NotReadyReason, readiness.Health.GetStatus(""), readiness.Health.GetStatus("a")));
    }
}
