using LightQ.Server;

namespace LightQ.Cli.Servers;

/// <summary>Gives the memory of garbage back when the process has come to rest.</summary>
/// <remarks>
/// The collector looks when something is allocated, and at rest next to nothing is: what connections, topics or clients
/// that are gone have left would stay. Every <see cref="Period"/> it is seen whether less than <see cref="RestShare"/>
/// of a processor was used, and whether as much was allocated since the last time as then was left
/// (<see cref="LeastGarbage"/> at least). When that is so twice and no message was moved in between, everything is
/// collected, and the buffers that no connection has with it, which takes a millisecond for each MiB that is in use.
/// Only for a process that is a broker and nothing else: in another's, when to collect is that program's business.
/// </remarks>
internal sealed class RestCollector : IDisposable
{
    public const double RestShare = 0.05;
    public const long LeastGarbage = 8 << 20;
    public static readonly TimeSpan Period = TimeSpan.FromSeconds(5);

    private readonly TimeProvider _time;
    private readonly Func<long> _moved;
    private readonly Func<TimeSpan> _processorTime;
    private readonly Func<long> _allocated;
    private readonly Func<long> _collect;
    private readonly ITimer _timer;
    private long _lookedAt;
    private long? _movedThen;
    private TimeSpan _usedThen;
    private long _allocatedThen;
    private long _left;

    /// <param name="time">The clock.</param>
    /// <param name="moved">Messages it has received and sent.</param>
    /// <param name="processorTime">What the process has used of all processors.</param>
    /// <param name="allocated">Bytes it has allocated since it began.</param>
    /// <param name="collect">Collects, and returns how many bytes are in use still.</param>
    public RestCollector(
        TimeProvider time,
        Func<long> moved,
        Func<TimeSpan> processorTime,
        Func<long> allocated,
        Func<long> collect
    )
    {
        (_time, _moved, _processorTime, _allocated, _collect) = (time, moved, processorTime, allocated, collect);
        _lookedAt = time.GetTimestamp();
        _usedThen = processorTime();
        _timer = time.CreateTimer(static self => ((RestCollector)self!).Look(), this, Period, Period);
    }

    /// <summary>The one of this process.</summary>
    /// <param name="server">What it is there for.</param>
    public static RestCollector Start(LightQServer server) =>
        new(
            TimeProvider.System,
            () => server.MessagesMoved,
            static () => Environment.CpuUsage.TotalTime,
            static () => GC.GetTotalAllocatedBytes(),
            () =>
            {
                server.TrimBuffers();
                GC.Collect(GC.MaxGeneration, GCCollectionMode.Aggressive, blocking: true, compacting: true);
                return GC.GetTotalMemory(forceFullCollection: false);
            }
        );

    /// <inheritdoc/>
    public void Dispose() => _timer.Dispose();

    private void Look()
    {
        TimeSpan used = _processorTime();
        long now = _time.GetTimestamp();
        bool isQuiet = used - _usedThen < RestShare * _time.GetElapsedTime(_lookedAt, now);
        (_lookedAt, _usedThen) = (now, used);
        long? moved = isQuiet && _allocated() - _allocatedThen >= Math.Max(LeastGarbage, _left) ? _moved() : null;
        if (moved is null || moved != _movedThen)
        {
            _movedThen = moved;
            return;
        }
        _left = _collect();
        (_allocatedThen, _movedThen) = (_allocated(), null);
    }
}
