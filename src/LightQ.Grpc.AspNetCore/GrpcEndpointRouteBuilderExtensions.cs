using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace LightQ.Grpc.AspNetCore;

/// <summary>Adds gRPC to an application.</summary>
public static class GrpcEndpointRouteBuilderExtensions
{
    /// <summary>Starts the mapping of gRPC services; call it once per application and map every service on the result.</summary>
    /// <param name="endpoints">The application.</param>
    /// <param name="options">Limits and interceptors of all services; null means the defaults.</param>
    public static GrpcServices MapGrpc(this IEndpointRouteBuilder endpoints, GrpcServerOptions? options = null)
    {
        ArgumentNullException.ThrowIfNull(endpoints);
        ILogger logger = endpoints.ServiceProvider.GetRequiredService<ILoggerFactory>().CreateLogger("LightQ.Grpc.AspNetCore");
        CancellationToken stopping = endpoints.ServiceProvider.GetService<IHostApplicationLifetime>()?.ApplicationStopping ?? CancellationToken.None;
        return new GrpcServices(endpoints, options ?? new GrpcServerOptions(), logger, stopping);
    }
}
