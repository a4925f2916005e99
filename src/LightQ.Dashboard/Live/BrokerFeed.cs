using Grpc.Core;
using LightQ.Dashboard.Api;
using LightQ.Protocol.Control;

namespace LightQ.Dashboard.Live;

/// <summary>
/// What is known of the broker as a whole, and of the topics that are shown. The broker sends it every two seconds,
/// while a user is signed in and the page can be seen.
/// </summary>
/// <remarks>
/// One stream carries it all: a browser has six connections to a broker, for all of its tabs, and a stream takes one.
/// </remarks>
internal sealed class BrokerFeed : IDisposable
{
    /// <summary>How often the figures come, and how often the pages read the rest.</summary>
    public static readonly TimeSpan Interval = TimeSpan.FromSeconds(2);

    private static readonly TimeSpan Silence = TimeSpan.FromSeconds(20);

    private readonly BrokerApi _api;
    private readonly Session _session;
    private readonly CancellationTokenSource _closed = new();
    private readonly Dictionary<object, IReadOnlyList<string>> _followed = [];
    private readonly RateSeries _received = new(),
        _sent = new(),
        _bytesIn = new(),
        _bytesOut = new();
    private CancellationTokenSource _turn = new();
    private string? _token;
    private bool _isStarted,
        _isReading;

    public BrokerFeed(BrokerApi api, Session session)
    {
        (_api, _session) = (api, session);
        session.Changed += OnSession;
    }

    /// <summary>Raised when something is new.</summary>
    public event Action? Changed;

    /// <summary>The figures; null before the first reading.</summary>
    public GetBrokerStatsResponse? Stats { get; private set; }

    /// <summary>The figures of the topics that are followed, by name.</summary>
    public IReadOnlyDictionary<string, TopicStats> Topics { get; private set; } = new Dictionary<string, TopicStats>();

    /// <summary>Whether the broker does all of its work, in its own words.</summary>
    public string Health => Stats?.Health ?? "";

    /// <summary>Why no figures come; empty while they do.</summary>
    public string Problem { get; private set; } = "";

    /// <summary>Whether the user lets the pages stand still.</summary>
    public bool IsPaused { get; private set; }

    /// <summary>Whether the page can be seen: it is in no hidden tab.</summary>
    public bool IsVisible { get; private set; } = true;

    /// <summary>Whether nothing is to be read.</summary>
    public bool IsStill => IsPaused || !IsVisible;

    /// <summary>How long half of the syncs take at most, and all but one in a hundred; null without one.</summary>
    public (TimeSpan Median, TimeSpan P99)? SyncTime { get; private set; }

    public Series Received => _received.Rates;

    public Series Sent => _sent.Rates;

    public Series BytesIn => _bytesIn.Rates;

    public Series BytesOut => _bytesOut.Rates;

    /// <summary>Whether the broker serves, and nothing is out of order.</summary>
    public bool IsHealthy => Problem.Length == 0 && Health is "" or "ready";

    /// <summary>Begins; a second call does nothing.</summary>
    public void Start()
    {
        if (_isStarted)
            return;
        _isStarted = true;
        _ = RunAsync();
    }

    /// <summary>Lets all pages stand still, or go on.</summary>
    public void Pause(bool isPaused)
    {
        IsPaused = isPaused;
        Turn();
        Changed?.Invoke();
    }

    /// <summary>The page can be seen, or is hidden.</summary>
    public void See(bool isVisible)
    {
        if (IsVisible == isVisible)
            return;
        IsVisible = isVisible;
        Turn();
        Changed?.Invoke();
    }

    /// <summary>Has the figures of topics sent as well.</summary>
    /// <param name="page">For which page, instead of what that has followed before.</param>
    /// <param name="topics">Their names; empty when the page is left.</param>
    public void Follow(object page, IReadOnlyList<string> topics)
    {
        HashSet<string> before = [.. Followed()];
        if (topics.Count == 0)
            _followed.Remove(page);
        else
            _followed[page] = topics;
        if (!before.SetEquals(Followed()))
            Turn();
    }

    public void Dispose()
    {
        _session.Changed -= OnSession;
        _closed.Cancel();
        _closed.Dispose();
        _turn.Dispose();
    }

    private IEnumerable<string> Followed() => _followed.Values.SelectMany(topics => topics).Distinct();

    /// <summary>What is asked for has changed: the stream ends, and another one begins if there is to be one.</summary>
    private void Turn()
    {
        CancellationTokenSource before = _turn;
        _turn = new CancellationTokenSource();
        before.Cancel();
        before.Dispose();
    }

    private void OnSession()
    {
        if (!_isReading || _session.State != Session.Stage.SignedIn || _session.Token != _token)
            Turn();
    }

    private async Task RunAsync()
    {
        var backoff = new Backoff();
        while (!_closed.IsCancellationRequested)
        {
            using var turn = CancellationTokenSource.CreateLinkedTokenSource(_closed.Token, _turn.Token);
            if (_session.State != Session.Stage.SignedIn || IsStill)
            {
                await WaitAsync(Timeout.InfiniteTimeSpan, turn.Token);
                continue;
            }

            string problem;
            try
            {
                _isReading = true;
                await ReadAsync(backoff, turn.Token);
                problem = "The broker has ended the stream.";
            }
            catch (Exception e) when (Failure.IsOfCall(e) || e is TimeoutException)
            {
                if (turn.IsCancellationRequested)
                    continue;
                problem = Failure.TextOf(e);
                if (Failure.IsLogin(e))
                {
                    await _session.EndAsync(problem);
                    continue;
                }
            }
            finally
            {
                _isReading = false;
            }

            TimeSpan pause = backoff.Next();
            Problem = $"Reconnecting: {problem}";
            Changed?.Invoke();
            await WaitAsync(pause, turn.Token);
        }
    }

    private static async Task WaitAsync(TimeSpan time, CancellationToken cancellation)
    {
        try
        {
            await Task.Delay(time, cancellation);
        }
        catch (OperationCanceledException)
        {
            // What is asked for has changed, or the page is closed.
        }
    }

    private async Task ReadAsync(Backoff backoff, CancellationToken cancellation)
    {
        _token = _session.Token;
        var request = new WatchBrokerStatsRequest
        {
            Interval = Google.Protobuf.WellKnownTypes.Duration.FromTimeSpan(Interval),
            Topics = { Followed() },
        };
        using AsyncServerStreamingCall<WatchBrokerStatsResponse> call = _api.Stats.WatchBrokerStats(
            request,
            cancellationToken: cancellation
        );
        while (await call.ResponseStream.MoveNext(cancellation).WaitAsync(Silence, cancellation))
        {
            backoff.Reset();
            Take(call.ResponseStream.Current);
        }
    }

    private void Take(WatchBrokerStatsResponse response)
    {
        GetBrokerStatsResponse stats = response.Broker;
        DateTimeOffset read = stats.Time.ToDateTimeOffset(),
            now = DateTimeOffset.UtcNow;
        _received.Read(read, stats.MessagesReceived, now);
        _sent.Read(read, stats.MessagesSent, now);
        _bytesIn.Read(read, stats.TotalBytesWritten, now);
        _bytesOut.Read(read, stats.TotalBytesRead, now);
        if (stats.SyncTimeP50 is { } median && stats.SyncTimeP99 is { } p99)
            SyncTime = (median.ToTimeSpan(), p99.ToTimeSpan());
        Stats = stats;
        Topics = response.Topics.ToDictionary(t => t.Topic);
        Problem = "";
        Changed?.Invoke();
    }
}
