using LightQ.Broker.Cluster;
using Microsoft.Extensions.Diagnostics.HealthChecks;

namespace LightQ.Server.Telemetry;

/// <summary>
/// Whether the server accepts work, as gRPC's health service and the web port report it. Thread-safe.
/// </summary>
internal sealed class Readiness : IHealthCheck
{
    private volatile string _reason = "starting";
    private volatile ClusterConditions? _conditions;

    /// <summary>Why the server takes no work; null while it does.</summary>
    public string? NotReadyReason => _reason.Length == 0 ? _conditions?.NotReady : _reason;

    /// <summary>Called when that has changed.</summary>
    public Action? Changed { get; set; }

    /// <summary>The server takes work from now on.</summary>
    public void Begin() => Become("");

    /// <summary>The server is on its way out.</summary>
    public void End() => Become("stopping");

    /// <inheritdoc/>
    public Task<HealthCheckResult> CheckHealthAsync(
        HealthCheckContext context,
        CancellationToken cancellationToken = default
    ) =>
        Task.FromResult(
            NotReadyReason is { } reason ? HealthCheckResult.Unhealthy(reason) : HealthCheckResult.Healthy()
        );

    /// <summary>From now on the server is not ready either while the cluster has a condition that says so.</summary>
    /// <param name="conditions">Null without a cluster.</param>
    public void Follow(ClusterConditions? conditions)
    {
        _conditions = conditions;
        if (conditions is not null)
            conditions.Changed += () => Changed?.Invoke();
    }

    private void Become(string reason)
    {
        _reason = reason;
        Changed?.Invoke();
    }
}
