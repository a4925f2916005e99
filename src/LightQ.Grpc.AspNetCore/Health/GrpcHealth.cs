using LightQ.Grpc.Health.V1;
using static LightQ.Grpc.Health.V1.HealthCheckResponse.Types;

namespace LightQ.Grpc.AspNetCore.Health;

/// <summary>
/// The health of a server and of its services, served as <c>grpc.health.v1.Health</c>. Thread-safe. The server as a whole
/// is the service with the empty name; it is SERVING from the start.
/// </summary>
public sealed class GrpcHealth
{
    private readonly Lock _lock = new();
    private readonly Dictionary<string, ServingStatus> _statuses = new() { [string.Empty] = ServingStatus.Serving };
    private TaskCompletionSource _changed = NewSignal();

    /// <summary>Sets a status; those who watch the service are told.</summary>
    /// <param name="service">A service's full name, or empty for the server.</param>
    /// <param name="status">The status.</param>
    public void SetStatus(string service, ServingStatus status)
    {
        ArgumentNullException.ThrowIfNull(service);
        TaskCompletionSource changed;
        lock (_lock)
        {
            _statuses[service] = status;
            changed = _changed;
            _changed = NewSignal();
        }

        changed.SetResult();
    }

    /// <summary>The status of a service, or null when none was set.</summary>
    public ServingStatus? GetStatus(string service) => Observe(service).Status;

    internal Task<HealthCheckResponse> CheckAsync(HealthCheckRequest request, GrpcServerCallContext context) => GetStatus(request.Service) is { } status
        ? Task.FromResult(new HealthCheckResponse { Status = status })
        : throw new GrpcException(GrpcStatusCode.NotFound, $"The health of the service '{request.Service}' is not known.");

    internal async Task WatchAsync(HealthCheckRequest request, GrpcResponseStream<HealthCheckResponse> responses, GrpcServerCallContext context)
    {
        ServingStatus? told = null;
        while (true)
        {
            (ServingStatus? known, Task changed) = Observe(request.Service);
            ServingStatus status = known ?? ServingStatus.ServiceUnknown;
            if (status != told)
            {
                told = status;
                await responses.WriteAsync(new HealthCheckResponse { Status = status }).ConfigureAwait(false);
            }

            await changed.WaitAsync(context.CancellationToken).ConfigureAwait(false);
        }
    }

    private static TaskCompletionSource NewSignal() => new(TaskCreationOptions.RunContinuationsAsynchronously);

    private (ServingStatus? Status, Task Changed) Observe(string service)
    {
        lock (_lock) return (_statuses.TryGetValue(service, out ServingStatus status) ? status : null, _changed.Task);
    }
}
