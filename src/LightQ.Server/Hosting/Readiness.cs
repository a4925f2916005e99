using LightQ.Grpc.AspNetCore.Health;
using static LightQ.Grpc.Health.V1.HealthCheckResponse.Types;

namespace LightQ.Server.Hosting;

/// <summary>Whether the server takes work, as gRPC's health service and the web port tell it. Thread-safe.</summary>
internal sealed class Readiness
{
    private volatile string _reason = "starting";

    public Readiness() => Health.SetStatus("", ServingStatus.NotServing);

    /// <summary>The same over gRPC: of the server, and of each service named in <see cref="Begin"/>.</summary>
    public GrpcHealth Health { get; } = new();

    /// <summary>Why the server takes no work; null while it does.</summary>
    public string? NotReadyReason => _reason.Length == 0 ? null : _reason;

    /// <summary>The server takes work from now on.</summary>
    public void Begin(IEnumerable<string> services)
    {
        _reason = "";
        foreach (string service in services)
            Health.SetStatus(service, ServingStatus.Serving);
        Health.SetStatus("", ServingStatus.Serving);
    }

    /// <summary>The server is on its way out.</summary>
    public void End(IEnumerable<string> services)
    {
        _reason = "stopping";
        Health.SetStatus("", ServingStatus.NotServing);
        foreach (string service in services)
            Health.SetStatus(service, ServingStatus.NotServing);
    }
}
