using LightQ.Bench.Checks;
using LightQ.Bench.Figures;
using LightQ.Bench.Roles;

namespace LightQ.Bench.InProcess;

/// <summary>The consumer's end on its own thread: in the same process as the producer, or in the other.</summary>
internal sealed class HandOverConsumer : IDisposable
{
    private readonly HandOverLink _link;
    private readonly CacheLine _line;
    private readonly int _size;
    private readonly PinnedThread _thread;

    // One for all runs: the system would map fresh memory page by page during the measurement.
    private readonly LatencyHistogram _histogram = new();

    public HandOverConsumer(HandOverSpec spec, HandOverLink link, CacheLine line)
    {
        (_link, _line, _size) = (link, line, spec.Size);
        link.Join();
        _thread = new PinnedThread("consumer", spec.ConsumerCpu);
    }

    /// <summary>Does a task.</summary>
    /// <param name="task">What.</param>
    /// <param name="begun">Called on the thread when it is at it.</param>
    /// <param name="stop">Ends it before its time.</param>
    public Task<RoleMessage> RunAsync(HandOverTask task, Action begun, CancellationToken stop) =>
        _thread.RunAsync(() =>
        {
            _histogram.Clear();
            begun();
            if (task.Messages == 0)
            {
                _line.Echo(stop);
                return new RoleMessage { Event = RoleEvent.Done };
            }
            if (task.ThroughLine)
            {
                _line.Receive(task.Messages, _histogram, stop);
                return new RoleMessage { Event = RoleEvent.Done, LatencyUs = LatencyFigures.OfHandOvers(_histogram) };
            }
            var check = new DeliveryCheck(_size, task.Messages, _histogram);
            _link.Receive(check, stop);
            return RoleMessage.Of(check, task.Messages) with
            {
                LatencyUs = LatencyFigures.OfHandOvers(_histogram),
                IsPinned = _thread.IsPinned,
            };
        });

    public void Dispose() => _thread.Dispose();
}
