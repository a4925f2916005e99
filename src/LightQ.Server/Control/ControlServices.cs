using Google.Protobuf.Reflection;
using LightQ.Broker;
using LightQ.Grpc.AspNetCore;
using LightQ.Grpc.AspNetCore.Health;
using LightQ.Protocol;
using LightQ.Protocol.Control;
using LightQ.Protocol.Frames;
using LightQ.Server.DataPlane;
using LightQ.Server.Limits;
using LightQ.Server.Messages;
using LightQ.Server.Security;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.Logging;

namespace LightQ.Server.Control;

/// <summary>The control plane: binds each rpc of the .proto files to its handler, behind the error and the access interceptor and its rule.</summary>
internal sealed class ControlServices(
    LightQBroker broker, DataListener listener, ServerLimits limits, ServerSecurity security, IServerOperations operations, GrpcHealth health, TimeProvider time, TimeProvider connectionTime, ILogger logger)
{
    /// <summary>What stock clients send at most unless they are told otherwise.</summary>
    private const int UsualMessageBytes = 4 * 1024 * 1024;

    private readonly MessageCalls _calls = new(listener, connectionTime);
    private readonly TopicsService _topics = new(broker, security.Authenticator, security.Access, security.Events);
    private readonly OperationsService _operations = new(operations, security.Events, connectionTime);
    private readonly AuthService _auth = new(broker, security.Authenticator, security.Access, security.Events, time);

    /// <summary>The full names of the services with a health of their own.</summary>
    public IReadOnlyList<string> ServiceNames { get; } =
    [
        TopicsReflection.Descriptor.Services[0].FullName,
        StatsReflection.Descriptor.Services[0].FullName,
        GroupsReflection.Descriptor.Services[0].FullName,
        MessagesReflection.Descriptor.Services[0].FullName,
        AuthReflection.Descriptor.Services[0].FullName,
        OperationsReflection.Descriptor.Services[0].FullName,
        BackupsReflection.Descriptor.Services[0].FullName,
    ];

    /// <summary>Adds the services to an application.</summary>
    public void Map(IEndpointRouteBuilder endpoints)
    {
        int frameBytes = limits.DataPlane.MaxFrameBytes, messageBytes = limits.Http.MaxMessageBytes == 0 ? Math.Max(UsualMessageBytes, frameBytes) : limits.Http.MaxMessageBytes;
        var options = new GrpcServerOptions
        {
            Interceptors = [new ErrorInterceptor(logger).InvokeAsync, new CallLimit(limits, messageBytes).InvokeAsync, CertificateInterceptor.InvokeAsync, new AccessInterceptor(security.Authenticator, security.Access).InvokeAsync],
            TimeProvider = time,
            MaxReceiveMessageSize = messageBytes,
        };
        var clients = new ClientDirectory(listener, _calls);
        var stats = new StatsService(broker, listener, clients, security.Access, time);
        var groups = new GroupsService(broker, clients, security.Access, security.Events);
        var backups = new BackupsService(broker, security.Access, security.Events, time, logger);
        var messages = new MessagesService(broker, _calls, frameBytes - FrameHeader.Size - ProtocolLimits.BatchOverheadBytes, time);
        endpoints.MapGrpc(options)
            .MapHealth(health)
            .MapReflection()
            .MapService(TopicsReflection.Descriptor.Services[0], Ruled(TopicsReflection.Descriptor.Services[0], _topics.Bind))
            .MapService(StatsReflection.Descriptor.Services[0], Ruled(StatsReflection.Descriptor.Services[0], stats.Bind))
            .MapService(GroupsReflection.Descriptor.Services[0], Ruled(GroupsReflection.Descriptor.Services[0], groups.Bind))
            .MapService(MessagesReflection.Descriptor.Services[0], Ruled(MessagesReflection.Descriptor.Services[0], messages.Bind))
            .MapService(OperationsReflection.Descriptor.Services[0], Ruled(OperationsReflection.Descriptor.Services[0], _operations.Bind))
            .MapService(AuthReflection.Descriptor.Services[0], Ruled(AuthReflection.Descriptor.Services[0], _auth.Bind))
            .MapService(BackupsReflection.Descriptor.Services[0], Ruled(BackupsReflection.Descriptor.Services[0], backups.Bind));
    }

    /// <summary>Ends the calls that may not go on, after somebody's rights have changed.</summary>
    public void Review() => _calls.Review();

    /// <summary>The open calls that carry messages.</summary>
    public MessageCalls Calls => _calls;

    /// <summary>Tells the calls that carry messages that the broker stops, and waits for them up to <paramref name="timeout"/>.</summary>
    public Task StopAsync(TimeSpan timeout) => _calls.StopAsync(timeout);

    private Action<GrpcServiceBuilder> Ruled(ServiceDescriptor service, Func<RuledServiceBuilder, RuledServiceBuilder> bind) =>
        builder => bind(new RuledServiceBuilder(builder, service.FullName, security.Access));
}
