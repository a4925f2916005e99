using Google.Protobuf.Reflection;
using LightQ.Grpc.AspNetCore.Calls;
using LightQ.Grpc.AspNetCore.Health;
using LightQ.Grpc.AspNetCore.Reflection;
using LightQ.Grpc.Health.V1;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.Logging;
using V1 = LightQ.Grpc.AspNetCore.Reflection.V1;
using V1Alpha = LightQ.Grpc.AspNetCore.Reflection.V1Alpha;

namespace LightQ.Grpc.AspNetCore;

/// <summary>
/// The gRPC services of an application. Map them all before the application starts; a method that no service has is
/// answered with UNIMPLEMENTED.
/// </summary>
public sealed class GrpcServices
{
    private readonly IEndpointRouteBuilder _endpoints;
    private readonly GrpcServerOptions _options;
    private readonly CancellationToken _stopping;
    private readonly ILogger _logger;
    private readonly List<ServiceDescriptor> _descriptors = [];

    internal GrpcServices(IEndpointRouteBuilder endpoints, GrpcServerOptions options, ILogger logger, CancellationToken stopping)
    {
        _endpoints = endpoints;
        _options = options;
        _stopping = stopping;
        _logger = logger;
        GrpcBinding unknown = new("/{service}/{method}", GrpcMethodType.Unary, NotImplemented);
        GrpcServerCall call = new(unknown, options, logger, stopping);
        endpoints.MapPost(unknown.FullName, call.InvokeAsync).WithOrder(int.MaxValue).Add(e => e.DisplayName = "gRPC unknown method");
    }

    /// <summary>The services mapped so far.</summary>
    public IReadOnlyList<ServiceDescriptor> Descriptors => _descriptors;

    /// <summary>Maps a service.</summary>
    /// <param name="service">The service, from the generated <c>…Reflection.Descriptor.Services</c>.</param>
    /// <param name="bind">Binds every method of the service.</param>
    /// <exception cref="InvalidOperationException">A method of the service was not bound; the message names it.</exception>
    public GrpcServices MapService(ServiceDescriptor service, Action<GrpcServiceBuilder> bind)
    {
        ArgumentNullException.ThrowIfNull(service);
        ArgumentNullException.ThrowIfNull(bind);
        if (_descriptors.Any(d => d.FullName == service.FullName)) throw new ArgumentException($"{service.FullName} is mapped twice.", nameof(service));
        GrpcServiceBuilder builder = new(service);
        bind(builder);
        foreach (GrpcBinding binding in builder.Build())
        {
            GrpcServerCall call = new(binding.WithInterceptors(_options.Interceptors), _options, _logger, _stopping);
            _endpoints.MapPost(binding.FullName, call.InvokeAsync).Add(e => e.DisplayName = $"gRPC {binding.FullName}");
        }

        _descriptors.Add(service);
        return this;
    }

    /// <summary>Serves <c>grpc.health.v1.Health</c>.</summary>
    public GrpcServices MapHealth(GrpcHealth health)
    {
        ArgumentNullException.ThrowIfNull(health);
        return MapService(HealthReflection.Descriptor.Services[0], bind => bind
            .Unary<HealthCheckRequest, HealthCheckResponse>("Check", health.CheckAsync)
            .ServerStreaming<HealthCheckRequest, HealthCheckResponse>("Watch", health.WatchAsync));
    }

    /// <summary>Serves reflection, v1 and v1alpha, over all services, also those that are mapped after this call.</summary>
    public GrpcServices MapReflection()
    {
        const string Method = "ServerReflectionInfo";
        GrpcReflection reflection = new(() => _descriptors);
        MapService(V1.ReflectionReflection.Descriptor.Services[0], bind => bind
            .DuplexStreaming<V1.ServerReflectionRequest, V1.ServerReflectionResponse>(Method, reflection.ServeAsync));
        return MapService(V1Alpha.ReflectionReflection.Descriptor.Services[0], bind => bind
            .DuplexStreaming<V1Alpha.ServerReflectionRequest, V1Alpha.ServerReflectionResponse>(Method, reflection.ServeAlphaAsync));
    }

    private static Task NotImplemented(GrpcServerCallContext context) =>
        throw new GrpcException(GrpcStatusCode.Unimplemented, $"There is no method {context.HttpContext.Request.Path}.");
}
