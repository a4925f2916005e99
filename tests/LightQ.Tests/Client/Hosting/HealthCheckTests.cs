using LightQ.Client;
using LightQ.Protocol.Frames;
using LightQ.Tests.Shared;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Xunit;

namespace LightQ.Tests.Client.Hosting;

/// <summary>What a health check says of a broker that answers, is not there, or hangs.</summary>
public sealed class HealthCheckTests
{
    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Fact]
    public async Task A_broker_that_answers_is_healthy()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        Task<HealthCheckResult> checking = CheckAsync(client, HealthStatus.Unhealthy);
        using FakeConnection connection = await broker.AcceptAsync();
        FakeFrame ping = await connection.ReadAsync(FrameType.Ping);
        await connection.WriteAsync(new PongFrame(ping.As<PingFrame>().Payload));

        HealthCheckResult result = await checking;
        Assert.Equal(HealthStatus.Healthy, result.Status);
        Assert.StartsWith(
            $"lightq://127.0.0.1:{broker.Options.DataPort} answered within ",
            result.Description,
            StringComparison.Ordinal
        );
    }

    [Theory]
    [InlineData(HealthStatus.Unhealthy)]
    [InlineData(HealthStatus.Degraded)]
    public async Task A_broker_that_is_not_there_is_what_the_registration_says_with_the_reason(HealthStatus failure)
    {
        var broker = new FakeBroker();
        LightQClientOptions options = broker.Options;
        broker.Dispose();
        await using var client = new LightQClient(options);

        HealthCheckResult result = await CheckAsync(client, failure);

        Assert.Equal(failure, result.Status);
        Assert.Equal(LightQ.Client.ErrorCode.Unavailable, Assert.IsType<LightQException>(result.Exception).Code);
        Assert.Equal(result.Exception!.Message, result.Description);
    }

    [Fact]
    public async Task A_broker_that_does_not_answer_is_waited_for_for_a_second()
    {
        var time = new ManualTime();
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options with { TimeProvider = time });
        Task<HealthCheckResult> checking = CheckAsync(client, HealthStatus.Unhealthy);
        using FakeConnection connection = await broker.AcceptAsync();
        await connection.ReadAsync(FrameType.Ping);

        time.Advance(TimeSpan.FromSeconds(1));

        HealthCheckResult result = await checking;
        Assert.Equal(HealthStatus.Unhealthy, result.Status);
        Assert.Equal(
            $"lightq://127.0.0.1:{broker.Options.DataPort} has not answered within 1 s; the client is Connected.",
            result.Description
        );
    }

    private static Task<HealthCheckResult> CheckAsync(LightQClient client, HealthStatus failure)
    {
        var check = new LightQHealthCheck(client);
        return check.CheckHealthAsync(
            new HealthCheckContext { Registration = new HealthCheckRegistration("lightq", check, failure, []) },
            Cancel
        );
    }
}
