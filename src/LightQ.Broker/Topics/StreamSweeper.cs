using LightQ.Broker.Catalog;
using LightQ.Broker.Replication;

namespace LightQ.Broker.Topics;

/// <summary>
/// Removes streams of partitions whose topic the catalog does not know: a broker was killed between making them and
/// storing the record.
/// </summary>
/// <remarks>Every node does so. One that was faster costs nothing: deleting what is not there is no mistake.</remarks>
internal sealed class StreamSweeper(
    TopicCatalog catalog,
    ReplicationOptions replication,
    Func<IStorageEvents?> events,
    TimeProvider time
) : IAsyncDisposable
{
    /// <summary>How long a stream is left alone. Its record comes in seconds, or not at all.</summary>
    public static readonly TimeSpan Patience = TimeSpan.FromMinutes(10);

    private static readonly TimeSpan Interval = TimeSpan.FromMinutes(1);

    private readonly Dictionary<string, long> _seen = new(StringComparer.Ordinal);
    private readonly CancellationTokenSource _stop = new();
    private Task _running = Task.CompletedTask;

    /// <summary>Begins to look, once a minute.</summary>
    public void Begin() => _running = Task.Run(RunAsync);

    /// <summary>Ends that.</summary>
    public async ValueTask DisposeAsync()
    {
        await _stop.CancelAsync().ConfigureAwait(false);
        await _running.ConfigureAwait(false);
        _stop.Dispose();
    }

    /// <summary>Looks once.</summary>
    /// <exception cref="ReplicationException">The engine cannot be reached.</exception>
    internal async Task SweepAsync(CancellationToken cancellationToken)
    {
        long now = time.GetTimestamp();
        HashSet<string> nobodys = new(StringComparer.Ordinal);
        string prefix = replication.StreamPrefix;
        await foreach (
            string stream in replication.Engine.ListStreamsAsync(prefix, cancellationToken).ConfigureAwait(false)
        )
        {
            if (TopicOf(stream, prefix) is { } topic && catalog.FindTopic(topic) is null)
                nobodys.Add(stream);
        }
        foreach (string known in _seen.Keys.Where(name => !nobodys.Contains(name)).ToArray())
            _seen.Remove(known);
        foreach (string stream in nobodys)
            _seen.TryAdd(stream, now);
        string[] due = [.. _seen.Where(s => time.GetElapsedTime(s.Value, now) >= Patience).Select(s => s.Key)];
        if (due.Length == 0)
            return;
        catalog.CatchUp();
        foreach (string stream in due.Where(s => catalog.FindTopic(TopicOf(s, prefix)!.Value) is null))
        {
            await replication.Engine.DeleteStreamAsync(stream, cancellationToken).ConfigureAwait(false);
            _seen.Remove(stream);
        }
    }

    /// <summary>The topic that a stream is of, by its name; null for other streams.</summary>
    private static Guid? TopicOf(string stream, string prefix)
    {
        string[] parts = stream[prefix.Length..].Split('_');
        return parts.Length == 2 && Guid.TryParseExact(parts[0], "N", out Guid id) && uint.TryParse(parts[1], out _)
            ? id
            : null;
    }

    private async Task RunAsync()
    {
        while (!_stop.IsCancellationRequested)
        {
            await Task.Delay(Interval, time, _stop.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            if (_stop.IsCancellationRequested)
                return;
            try
            {
                await SweepAsync(_stop.Token).ConfigureAwait(false);
            }
            catch (Exception e) when (e is ReplicationException or OperationCanceledException)
            {
                if (!_stop.IsCancellationRequested) // It is tried again in a minute.
                    events()?.OnRefused("the removal of streams without a topic", e);
            }
        }
    }
}
