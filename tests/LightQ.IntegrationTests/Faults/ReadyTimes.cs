using LightQ.Tests.Shared;

namespace LightQ.IntegrationTests.Faults;

/// <summary>How long a broker took to be ready again, over many starts. Thread-safe.</summary>
internal sealed class ReadyTimes
{
    private readonly List<(TimeSpan Ready, TimeSpan Opened)> _all = [];

    /// <summary>The median, from the start of the process.</summary>
    public TimeSpan Median => At(0.5, static t => t.Ready);

    public void Add(FaultBroker broker)
    {
        lock (_all)
            _all.Add((broker.Ready, broker.Opened));
    }

    public void AddTo(FaultRun run)
    {
        run.Figure("ready p50 ms", (long)Median.TotalMilliseconds);
        run.Figure("ready p99 ms", (long)At(0.99, static t => t.Ready).TotalMilliseconds);
        run.Figure("ready p50 ms, without the runtime's start", (long)At(0.5, static t => t.Opened).TotalMilliseconds);
        run.Figure("ready p99 ms, without the runtime's start", (long)At(0.99, static t => t.Opened).TotalMilliseconds);
    }

    private TimeSpan At(double quantile, Func<(TimeSpan Ready, TimeSpan Opened), TimeSpan> which)
    {
        lock (_all)
        {
            TimeSpan[] sorted = [.. _all.Select(which).Order()];
            return sorted.Length == 0 ? TimeSpan.Zero : sorted[(int)((sorted.Length - 1) * quantile)];
        }
    }
}
