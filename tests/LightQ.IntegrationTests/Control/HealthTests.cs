using Grpc.Core;
using Grpc.Health.V1;
using Grpc.Reflection.V1;
using LightQ.IntegrationTests.Security;
using Xunit;
using static Grpc.Health.V1.HealthCheckResponse.Types;

namespace LightQ.IntegrationTests.Control;

public sealed class HealthTests
{
    [Theory]
    [InlineData("")]
    [InlineData("lightq.control.v1.Topics")]
    [InlineData("lightq.control.v1.Stats")]
    [InlineData("lightq.control.v1.Auth")]
    public async Task A_ready_server_is_SERVING_also_to_those_who_have_not_logged_in(string service)
    {
        await using TestServer server = await TestServer.StartAsync(o => o with { RequireAuth = true });
        HealthCheckResponse health = await server.Control.CallAsync<HealthCheckRequest, HealthCheckResponse>(
            "Check",
            new() { Service = service }
        );
        Assert.Equal(ServingStatus.Serving, health.Status);
    }

    [Fact]
    public async Task Reflection_lists_every_service_to_who_has_logged_in()
    {
        await using TestServer server = await TestServer.StartAsync(o => o with { RequireAuth = true });
        AsyncDuplexStreamingCall<ServerReflectionRequest, ServerReflectionResponse> Open(string? token) =>
            server.Control.Duplex<ServerReflectionRequest, ServerReflectionResponse>("ServerReflectionInfo", token);
        using (AsyncDuplexStreamingCall<ServerReflectionRequest, ServerReflectionResponse> stranger = Open(null))
        {
            RpcException refused = await Assert.ThrowsAsync<RpcException>(() => stranger.ReadAsync());
            Assert.Equal(StatusCode.Unauthenticated, refused.StatusCode);
        }
        using AsyncDuplexStreamingCall<ServerReflectionRequest, ServerReflectionResponse> call = Open(
            Caller.Create(server, "alice").Token
        );
        await call.RequestStream.WriteAsync(
            new ServerReflectionRequest { ListServices = "" },
            TestContext.Current.CancellationToken
        );
        await call.RequestStream.CompleteAsync();
        var names = new List<string>();
        while (await call.ReadAsync() is { } response)
            names.AddRange(response.ListServicesResponse.Service.Select(s => s.Name));
        Assert.Superset(
            new HashSet<string>
            {
                "lightq.control.v1.Topics",
                "lightq.control.v1.Stats",
                "lightq.control.v1.Auth",
                "grpc.health.v1.Health",
                "grpc.reflection.v1.ServerReflection",
                "grpc.reflection.v1alpha.ServerReflection",
            },
            names.ToHashSet()
        );
    }
}
