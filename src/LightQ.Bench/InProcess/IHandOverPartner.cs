using LightQ.Bench.Roles;

namespace LightQ.Bench.InProcess;

/// <summary>The consumer, seen from the producer's process. One task at a time.</summary>
internal interface IHandOverPartner : IAsyncDisposable
{
    /// <summary>Begins a task; returns when the consumer's thread is at it.</summary>
    Task StartAsync(HandOverTask task);

    /// <summary>Waits for the end of the task.</summary>
    /// <exception cref="BenchException">The consumer failed, or is gone.</exception>
    Task<RoleMessage> EndAsync();
}
