using LightQ.Dashboard.Api;
using LightQ.Protocol.Control;

namespace LightQ.Dashboard.Live;

/// <summary>What is known of the broker as a whole; read every two seconds while somebody is signed in.</summary>
internal sealed class BrokerFeed(BrokerApi api, Session session) : IDisposable
{
    /// <summary>How often the pages read.</summary>
    public static readonly TimeSpan Interval = TimeSpan.FromSeconds(2);

    // /metrics has lines for each topic: with many of them it is left alone.
    private const int MostTopicsForMetrics = 200,
        ReadingsBetweenMetrics = 3;

    private readonly RateSeries _received = new(),
        _sent = new(),
        _bytesIn = new(),
        _bytesOut = new();
    private (double Syncs, double Seconds)? _syncsBefore;
    private PeriodicTimer? _timer;
    private int _reading;

    /// <summary>Raised after each reading.</summary>
    public event Action? Changed;

    /// <summary>The figures; null before the first reading.</summary>
    public GetBrokerStatsResponse? Stats { get; private set; }

    /// <summary>The line of <c>/healthz/ready</c>.</summary>
    public string Health { get; private set; } = "";

    /// <summary>Why the last reading failed; empty when it did not.</summary>
    public string Problem { get; private set; } = "";

    /// <summary>Whether the pages stand still.</summary>
    public bool IsPaused { get; private set; }

    /// <summary>Bytes that the disk still takes; null where that is not known.</summary>
    public double? DiskFree { get; private set; }

    /// <summary>How long a sync of the disk takes, on average since the reading before; null without one.</summary>
    public TimeSpan? SyncTime { get; private set; }

    public Series Received => _received.Rates;

    public Series Sent => _sent.Rates;

    public Series BytesIn => _bytesIn.Rates;

    public Series BytesOut => _bytesOut.Rates;

    /// <summary>Whether the broker serves, and nothing is out of order.</summary>
    public bool IsHealthy => Problem.Length == 0 && Health is "" or "ready";

    /// <summary>Begins to read; a second call does nothing.</summary>
    public void Start()
    {
        if (_timer is not null)
            return;
        _timer = new PeriodicTimer(Interval);
        _ = RunAsync(_timer);
    }

    /// <summary>Lets all pages stand still, or go on.</summary>
    public void Pause(bool isPaused)
    {
        IsPaused = isPaused;
        Changed?.Invoke();
    }

    public void Dispose() => _timer?.Dispose();

    private async Task RunAsync(PeriodicTimer timer)
    {
        do
        {
            if (session.State == Session.Stage.SignedIn && !IsPaused)
                await ReadAsync();
        } while (await timer.WaitForNextTickAsync());
    }

    private async Task ReadAsync()
    {
        try
        {
            GetBrokerStatsResponse stats = await api.Stats.GetBrokerStatsAsync(new GetBrokerStatsRequest());
            DateTimeOffset now = DateTimeOffset.UtcNow;
            _received.Read(now, stats.MessagesReceived);
            _sent.Read(now, stats.MessagesSent);
            _bytesIn.Read(now, stats.TotalBytesWritten);
            _bytesOut.Read(now, stats.TotalBytesRead);
            Stats = stats;
            Health = (await api.GetTextAsync("healthz/ready", CancellationToken.None)).Trim();
            if (stats.TopicsCount <= MostTopicsForMetrics && _reading++ % ReadingsBetweenMetrics == 0)
                ReadMetrics(await api.GetTextAsync("metrics", CancellationToken.None));
            Problem = "";
        }
        catch (Exception e) when (Failure.IsOfCall(e))
        {
            if (Failure.IsLogin(e))
                await session.EndAsync(Failure.TextOf(e));
            Problem = Failure.TextOf(e);
        }

        Changed?.Invoke();
    }

    private void ReadMetrics(string text)
    {
        Dictionary<string, double> figures = MetricsText.Read(text);
        DiskFree = figures.TryGetValue("lightq_disk_free_bytes", out double free) ? free : null;
        if (
            !figures.TryGetValue("lightq_syncs_total", out double syncs)
            || !figures.TryGetValue("lightq_sync_time_seconds_total", out double seconds)
        )
        {
            return;
        }

        if (_syncsBefore is { } before && syncs > before.Syncs)
            SyncTime = TimeSpan.FromSeconds((seconds - before.Seconds) / (syncs - before.Syncs));
        else if (_syncsBefore is null && syncs > 0)
            SyncTime = TimeSpan.FromSeconds(seconds / syncs);
        _syncsBefore = (syncs, seconds);
    }
}
