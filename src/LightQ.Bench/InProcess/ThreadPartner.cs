using LightQ.Bench.Roles;

namespace LightQ.Bench.InProcess;

/// <summary>A consumer on another thread of this process.</summary>
internal sealed class ThreadPartner(HandOverSpec spec, HandOverLink link, CacheLine line, CancellationToken stop)
    : IHandOverPartner
{
    private readonly HandOverConsumer _consumer = new(spec, link, line);
    private Task<RoleMessage>? _task;

    public Task StartAsync(HandOverTask task)
    {
        var begun = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        _task = _consumer.RunAsync(task, begun.SetResult, stop);
        return begun.Task;
    }

    public Task<RoleMessage> EndAsync() => _task ?? throw new InvalidOperationException("There is no task.");

    public ValueTask DisposeAsync()
    {
        _consumer.Dispose();
        return ValueTask.CompletedTask;
    }
}
