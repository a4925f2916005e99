using LightQ.Server.Telemetry;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Xunit;

namespace LightQ.Tests.Server;

public sealed class ReadinessTests
{
    [Fact]
    public async Task Health_follows_the_life_of_the_server()
    {
        int changes = 0;
        var readiness = new Readiness { Changed = () => changes++ };
        Assert.Equal(("starting", HealthStatus.Unhealthy), (readiness.NotReadyReason, await StatusAsync(readiness)));
        readiness.Begin();
        Assert.Equal((null, HealthStatus.Healthy), (readiness.NotReadyReason, await StatusAsync(readiness)));
        readiness.End();
        Assert.Equal(("stopping", HealthStatus.Unhealthy), (readiness.NotReadyReason, await StatusAsync(readiness)));
        Assert.Equal(2, changes);
    }

    private static async Task<HealthStatus> StatusAsync(Readiness readiness) =>
        (await readiness.CheckHealthAsync(new HealthCheckContext(), TestContext.Current.CancellationToken)).Status;
}
