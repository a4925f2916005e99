using LightQ.Protocol;
using LightQ.Scheduling;

namespace LightQ.Broker.Delays;

/// <summary>The broker's one timer for delayed delivery: wakes each partition when its next batch is due.</summary>
/// <remarks>Thread-safe. Lock order: a partition's append lock, then this one.</remarks>
internal sealed class DelaySchedule : IDisposable
{
    /// <summary>The clock may be set meanwhile: after so long the timer looks again, whatever was due.</summary>
    private static readonly TimeSpan LongestSleep = TimeSpan.FromMinutes(1);
    private static readonly TimeSpan ShortestSleep = TimeSpan.FromMilliseconds(1);

    private readonly SteadyClock _time;
    private readonly ITimer _timer;
    private readonly Lock _gate = new();
    private readonly PriorityQueue<DelayedDelivery, long> _queue = new();
    private long _armedFor = long.MaxValue;
    private int _stepsTaken;
    private bool _isDisposed;

    public DelaySchedule(TimeProvider time)
    {
        _time = SteadyClock.Over(time);
        _timer = time.CreateTimer(
            static schedule => ((DelaySchedule)schedule!).OnTimer(),
            this,
            Timeout.InfiniteTimeSpan,
            Timeout.InfiniteTimeSpan
        );
    }

    /// <summary>The time, in unix microseconds.</summary>
    public long Now => UnixMicroseconds.From(_time.GetUtcNow());

    /// <summary>Has a partition look at its batches at a time, or earlier.</summary>
    public void Wake(DelayedDelivery delivery, long at)
    {
        lock (_gate)
        {
            if (_isDisposed || at >= delivery.WakesAt)
                return;
            if (at <= Now)
            {
                delivery.Schedule();
                return;
            }
            delivery.WakesAt = at;
            _queue.Enqueue(delivery, at);
            if (at < _armedFor)
                Arm(at);
        }
    }

    /// <summary>Does not wake it again.</summary>
    public void Forget(DelayedDelivery delivery)
    {
        lock (_gate)
        {
            while (_queue.Remove(delivery, out _, out _))
            {
                // It may be queued for several times.
            }
        }
    }

    public void Dispose()
    {
        lock (_gate)
        {
            _isDisposed = true;
            _queue.Clear();
        }
        _timer.Dispose();
    }

    private void OnTimer()
    {
        lock (_gate)
        {
            _armedFor = long.MaxValue;
            long now = Now;
            if (_stepsTaken != _time.StepsTaken)
            {
                // What waits for so long is due by another time than it was queued for.
                _stepsTaken = _time.StepsTaken;
                now = long.MaxValue;
            }
            while (_queue.TryPeek(out DelayedDelivery? next, out long at))
            {
                if (at > now)
                {
                    Arm(at);
                    return;
                }
                _queue.Dequeue();
                // Otherwise it asked for an earlier time since, and was woken then.
                if (next.WakesAt != at)
                    continue;
                next.WakesAt = long.MaxValue;
                next.Schedule();
            }
        }
    }

    private void Arm(long at)
    {
        if (_isDisposed)
            return;
        _armedFor = at;
        var sleep = TimeSpan.FromMicroseconds(
            Math.Clamp(at - Now, (long)ShortestSleep.TotalMicroseconds, (long)LongestSleep.TotalMicroseconds)
        );
        _timer.Change(sleep, Timeout.InfiniteTimeSpan);
    }
}
