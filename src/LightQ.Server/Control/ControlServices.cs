using LightQ.Broker;
using LightQ.Grpc.AspNetCore;
using LightQ.Grpc.AspNetCore.Health;
using LightQ.Protocol;
using LightQ.Protocol.Control;
using LightQ.Protocol.Frames;
using LightQ.Server.DataPlane;
using LightQ.Server.Messages;
using LightQ.Server.Security;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.Logging;

namespace LightQ.Server.Control;

/// <summary>The control plane: binds each rpc of the .proto files to its handler, behind the error and the login interceptor.</summary>
internal sealed class ControlServices(
    LightQBroker broker, DataListener listener, DataPlaneOptions limits, Authenticator authenticator, GrpcHealth health, TimeProvider time, TimeProvider connectionTime, ILogger logger)
{
    /// <summary>What stock clients send at most unless they are told otherwise.</summary>
    private const int UsualMessageBytes = 4 * 1024 * 1024;

    private readonly MessageCalls _calls = new(listener, connectionTime);
    private readonly TopicsService _topics = new(broker, logger);
    private readonly GroupsService _groups = new(broker, logger);
    private readonly AuthService _auth = new(authenticator, logger);

    /// <summary>The full names of the services with a health of their own.</summary>
    public IReadOnlyList<string> ServiceNames { get; } =
    [
        TopicsReflection.Descriptor.Services[0].FullName,
        StatsReflection.Descriptor.Services[0].FullName,
        GroupsReflection.Descriptor.Services[0].FullName,
        MessagesReflection.Descriptor.Services[0].FullName,
        AuthReflection.Descriptor.Services[0].FullName,
    ];

    /// <summary>Adds the services to an application.</summary>
    public void Map(IEndpointRouteBuilder endpoints)
    {
        var options = new GrpcServerOptions
        {
            Interceptors = [new ErrorInterceptor(logger).InvokeAsync, new LoginInterceptor(authenticator).InvokeAsync],
            TimeProvider = time,
            MaxReceiveMessageSize = Math.Max(UsualMessageBytes, limits.MaxFrameBytes),
        };
        var stats = new StatsService(broker, listener, _calls, time);
        var messages = new MessagesService(broker, _calls, limits.MaxFrameBytes - FrameHeader.Size - ProtocolLimits.BatchOverheadBytes, time);
        endpoints.MapGrpc(options)
            .MapHealth(health)
            .MapReflection()
            .MapService(TopicsReflection.Descriptor.Services[0], _topics.Bind)
            .MapService(StatsReflection.Descriptor.Services[0], stats.Bind)
            .MapService(GroupsReflection.Descriptor.Services[0], _groups.Bind)
            .MapService(MessagesReflection.Descriptor.Services[0], messages.Bind)
            .MapService(AuthReflection.Descriptor.Services[0], _auth.Bind);
    }

    /// <summary>Tells the calls that carry messages that the broker stops, and waits for them up to <paramref name="timeout"/>.</summary>
    public Task StopAsync(TimeSpan timeout) => _calls.StopAsync(timeout);
}
