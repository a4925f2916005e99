using LightQ.Broker;
using LightQ.Grpc.AspNetCore;
using LightQ.Grpc.AspNetCore.Health;
using LightQ.Protocol.Control;
using LightQ.Server.DataPlane;
using LightQ.Server.Security;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.Logging;

namespace LightQ.Server.Control;

/// <summary>The control plane: binds each rpc of the .proto files to its handler, behind the error and the login interceptor.</summary>
internal sealed class ControlServices(
    LightQBroker broker, DataListener listener, Authenticator authenticator, GrpcHealth health, TimeProvider time, ILogger logger)
{
    private readonly TopicsService _topics = new(broker, logger);
    private readonly StatsService _stats = new(broker, listener, time);
    private readonly GroupsService _groups = new(broker, logger);
    private readonly AuthService _auth = new(authenticator, logger);

    /// <summary>The full names of the services with a health of their own.</summary>
    public IReadOnlyList<string> ServiceNames { get; } =
    [
        TopicsReflection.Descriptor.Services[0].FullName,
        StatsReflection.Descriptor.Services[0].FullName,
        GroupsReflection.Descriptor.Services[0].FullName,
        AuthReflection.Descriptor.Services[0].FullName,
    ];

    /// <summary>Adds the services to an application.</summary>
    public void Map(IEndpointRouteBuilder endpoints)
    {
        var options = new GrpcServerOptions
        {
            Interceptors = [new ErrorInterceptor(logger).InvokeAsync, new LoginInterceptor(authenticator).InvokeAsync],
            TimeProvider = time,
        };
        endpoints.MapGrpc(options)
            .MapHealth(health)
            .MapReflection()
            .MapService(TopicsReflection.Descriptor.Services[0], _topics.Bind)
            .MapService(StatsReflection.Descriptor.Services[0], _stats.Bind)
            .MapService(GroupsReflection.Descriptor.Services[0], _groups.Bind)
            .MapService(AuthReflection.Descriptor.Services[0], _auth.Bind);
    }
}
