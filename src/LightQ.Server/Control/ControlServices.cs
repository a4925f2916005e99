using System.IO.Compression;
using Grpc.AspNetCore.HealthChecks;
using Grpc.AspNetCore.Server;
using Grpc.Core;
using Grpc.Health.V1;
using Grpc.Net.Compression;
using Grpc.Reflection;
using LightQ.Broker;
using LightQ.Protocol.Control;
using LightQ.Server.Audit;
using LightQ.Server.Connections;
using LightQ.Server.Limits;
using LightQ.Server.Messages;
using LightQ.Server.Security;
using LightQ.Server.Telemetry;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace LightQ.Server.Control;

/// <summary>
/// The control plane: serves each rpc of the .proto files, behind the gate and the interceptor that hold callers to its
/// rule.
/// </summary>
internal sealed class ControlServices(
    LightQBroker broker,
    ConnectionListener listener,
    ServerLimits limits,
    ServerSecurity security,
    IServerOperations operations,
    AuditLog? audit,
    TimeProvider time,
    TimeProvider connectionTime,
    ILogger logger,
    INodes? nodes = null
)
{
    /// <summary>What stock clients send at most unless they are configured otherwise.</summary>
    private const int UsualMessageBytes = 4 * 1024 * 1024;

    private readonly MessageCalls _calls = new(listener, limits, connectionTime);

    /// <summary>The services with a health of their own.</summary>
    public static IReadOnlyList<string> Names { get; } =
    [
        "lightq.control.v1.Topics",
        "lightq.control.v1.Stats",
        "lightq.control.v1.Groups",
        "lightq.control.v1.Messages",
        "lightq.control.v1.DeadLetters",
        "lightq.control.v1.Auth",
        "lightq.control.v1.Operations",
        "lightq.control.v1.Backups",
        "lightq.control.v1.Cluster",
    ];

    /// <summary>The open calls that carry messages.</summary>
    public MessageCalls Calls => _calls;

    private int MessageBytes =>
        limits.Http.MaxMessageBytes == 0
            ? Math.Max(UsualMessageBytes, limits.DataPlane.MaxFrameBytes)
            : limits.Http.MaxMessageBytes;

    /// <summary>Adds what serves the calls to an application that is to be built.</summary>
    /// <param name="services">The application's services.</param>
    /// <param name="readiness">What the health service reports, of the broker and of each service.</param>
    public void Add(IServiceCollection services, Readiness readiness)
    {
        var clients = new ClientDirectory(listener, _calls);
        services.AddSingleton(new TopicsService(broker, security.Authenticator, security.Access, security.Events));
        services.AddSingleton(
            new OperationsService(
                operations,
                security.Events,
                audit,
                () => ClusterService.NodeOf(broker),
                connectionTime
            )
        );
        services.AddSingleton(new AuthService(broker, security.Authenticator, security.Access, security.Events, time));
        var brokerStats = new BrokerStatsReader(
            broker,
            listener,
            clients,
            limits.Refusals,
            security.Access,
            readiness,
            new Degradation(broker, audit, security.Access),
            time
        );
        services.AddSingleton(new StatsService(broker, brokerStats, clients, security.Access, time) { Nodes = nodes });
        services.AddSingleton(new GroupsService(broker, clients, security.Access, security.Events));
        services.AddSingleton(new LettersService(broker));
        services.AddSingleton(new BackupsService(broker, security.Access, security.Events, time, logger));
        services.AddSingleton(
            new ClusterService(broker, security.Access, security.Events, operations.GetAddresses, connectionTime)
        );
        var messages = new MessagesService(
            broker,
            security.Access,
            _calls,
            new Fetchers(broker, _calls, security.Access, limits, time),
            PublishOnce.MostBytes(limits.DataPlane),
            time,
            security.Events,
            nodes
        );
        services.AddSingleton(messages);
        services.AddSingleton(new DeadLettersService(broker, messages.Republisher, security.Events));
        services.AddSingleton(host => new CallInterceptor(security.Access, logger, StoppingOf(host), nodes));
        services.AddGrpc(grpc =>
        {
            grpc.MaxReceiveMessageSize = MessageBytes; // Which RequestBody has seen to, also of what is compressed.
            grpc.CompressionProviders = [new GzipCompressionProvider(CompressionLevel.Fastest)];
            grpc.Interceptors.Add<CallInterceptor>();
        });
        services.AddSingleton(_ => new ReflectionServiceImpl(Shown()));
        services.AddSingleton(_ => new ReflectionV1ServiceImpl(Shown()));
        services
            .AddGrpcHealthChecks(health =>
            {
                foreach (string name in Names)
                    health.Services.Map(name, (HealthCheckMapContext _) => true);
            })
            .AddCheck("ready", readiness);
        // Who watches is told when it changes (HttpHost); nothing is to be looked at again and again.
        services.Configure<HealthCheckPublisherOptions>(publishing =>
            publishing.Delay = publishing.Period = TimeSpan.FromDays(1)
        );
    }

    /// <summary>What the reflection service shows.</summary>
    /// <remarks>
    /// Of the messages' own descriptors: the stock way finds them by the names of members, which a native program has
    /// lost. They are made when somebody asks: a broker's start takes a quarter less without.
    /// </remarks>
    public static Google.Protobuf.Reflection.ServiceDescriptor[] Shown() =>
        [
            Topics.Descriptor,
            Stats.Descriptor,
            Groups.Descriptor,
            Protocol.Control.Messages.Descriptor,
            DeadLetters.Descriptor,
            Auth.Descriptor,
            Operations.Descriptor,
            Backups.Descriptor,
            Protocol.Control.Cluster.Descriptor,
            Health.Descriptor,
            Grpc.Reflection.V1.ServerReflection.Descriptor,
            Grpc.Reflection.V1Alpha.ServerReflection.Descriptor,
        ];

    /// <summary>Adds the services to an application, behind the gate that every call passes.</summary>
    /// <returns>The gate.</returns>
    public CallGate Map(WebApplication app)
    {
        var gate = new CallGate(limits, MessageBytes, security, StoppingOf(app.Services), nodes);
        app.Use(gate.InvokeAsync);
        app.MapGrpcService<TopicsService>();
        app.MapGrpcService<StatsService>();
        app.MapGrpcService<GroupsService>();
        app.MapGrpcService<MessagesService>();
        app.MapGrpcService<OperationsService>();
        app.MapGrpcService<AuthService>();
        app.MapGrpcService<BackupsService>();
        app.MapGrpcService<ClusterService>();
        app.MapGrpcService<DeadLettersService>();
        app.MapGrpcService<LettersService>();
        app.MapGrpcHealthChecksService();
        app.MapGrpcService<ReflectionServiceImpl>();
        app.MapGrpcService<ReflectionV1ServiceImpl>();
        RpcRules.Check(
            ((IEndpointRouteBuilder)app)
                .DataSources.SelectMany(source => source.Endpoints)
                .Select(endpoint => endpoint.Metadata.GetMetadata<GrpcMethodMetadata>()?.Method)
                .OfType<IMethod>()
        );
        return gate;
    }

    /// <summary>Rights have changed: ends the calls that are no longer allowed.</summary>
    public void Review() => _calls.Review();

    /// <summary>
    /// Tells the calls that carry messages that the broker stops, and waits for them up to <paramref name="timeout"/>.
    /// </summary>
    public Task StopAsync(TimeSpan timeout) => _calls.StopAsync(timeout);

    private static CancellationToken StoppingOf(IServiceProvider host) =>
        host.GetRequiredService<IHostApplicationLifetime>().ApplicationStopping;
}
