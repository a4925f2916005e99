using LightQ.Grpc;
using LightQ.Grpc.Health.V1;
using Xunit;
using static LightQ.Grpc.Health.V1.HealthCheckResponse.Types;

namespace LightQ.Tests.Grpc;

public sealed class GrpcHealthTests
{
    private static readonly GrpcMethod<HealthCheckRequest, HealthCheckResponse> Check =
        GrpcMethod.Create<HealthCheckRequest, HealthCheckResponse>(HealthReflection.Descriptor.Services[0], "Check");

    private static readonly GrpcMethod<HealthCheckRequest, HealthCheckResponse> Watch =
        GrpcMethod.Create<HealthCheckRequest, HealthCheckResponse>(HealthReflection.Descriptor.Services[0], "Watch");

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Check_answers_the_status_that_was_set()
    {
        await using EchoServer server = await EchoServer.StartAsync();
        using GrpcChannel channel = server.Connect();
        Assert.Equal(ServingStatus.Serving, await CheckAsync(channel, ""));
        server.Health.SetStatus("", ServingStatus.NotServing);
        Assert.Equal(ServingStatus.NotServing, await CheckAsync(channel, ""));
    }

    [Fact]
    public async Task Check_of_an_unknown_service_is_NOT_FOUND()
    {
        await using EchoServer server = await EchoServer.StartAsync();
        using GrpcChannel channel = server.Connect();
        GrpcException error = await Assert.ThrowsAsync<GrpcException>(() => CheckAsync(channel, "no.such.Service"));
        Assert.Equal(GrpcStatusCode.NotFound, error.Status.Code);
    }

    [Fact]
    public async Task Watch_tells_the_status_and_every_change()
    {
        await using EchoServer server = await EchoServer.StartAsync();
        using GrpcChannel channel = server.Connect();
        HealthCheckRequest request = new() { Service = "a" };
        await using IAsyncEnumerator<HealthCheckResponse> watch = channel.ServerStreaming(Watch, request, null, Token).GetAsyncEnumerator(Token);

        foreach (ServingStatus expected in new[] { ServingStatus.ServiceUnknown, ServingStatus.Serving, ServingStatus.NotServing })
        {
            if (expected != ServingStatus.ServiceUnknown) server.Health.SetStatus("a", expected);
            Assert.True(await watch.MoveNextAsync());
            Assert.Equal(expected, watch.Current.Status);
            server.Health.SetStatus("b", expected); // no news for this watcher
        }
    }

    private static async Task<ServingStatus> CheckAsync(GrpcChannel channel, string service) =>
        (await channel.UnaryAsync(Check, new HealthCheckRequest { Service = service }, null, Token)).Status;
}
