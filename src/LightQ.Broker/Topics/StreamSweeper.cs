using LightQ.Broker.Catalog;
using LightQ.Broker.Replication;

namespace LightQ.Broker.Topics;

/// <summary>
/// Removes streams of partitions whose topic the catalog does not know, or as one without replicas: a broker was killed
/// between making them and storing the record.
/// </summary>
/// <remarks>
/// Every node does so. One that was faster costs nothing: deleting what is not there is no mistake. Streams that are
/// being filled with what a topic has grow, one after the other.
/// </remarks>
internal sealed class StreamSweeper(
    TopicCatalog catalog,
    ReplicationOptions replication,
    Func<IStorageEvents?> events,
    TimeProvider time
) : IAsyncDisposable
{
    /// <summary>
    /// How long streams that do not grow are left alone. Their record comes in seconds, or not at all.
    /// </summary>
    public static readonly TimeSpan Patience = TimeSpan.FromMinutes(10);

    private static readonly TimeSpan Interval = TimeSpan.FromMinutes(1);

    private readonly Dictionary<Guid, (long Since, ulong Entries)> _seen = [];
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
        Dictionary<Guid, List<string>> nobodys = [];
        string prefix = replication.StreamPrefix;
        await foreach (
            string stream in replication.Engine.ListStreamsAsync(prefix, cancellationToken).ConfigureAwait(false)
        )
        {
            if (TopicOf(stream, prefix) is { } topic && !HasStreams(topic))
            {
                if (!nobodys.TryGetValue(topic, out List<string>? streams))
                    nobodys.Add(topic, streams = []);
                streams.Add(stream);
            }
        }
        foreach (Guid known in _seen.Keys.Where(topic => !nobodys.ContainsKey(topic)).ToArray())
            _seen.Remove(known);
        foreach ((Guid topic, List<string> streams) in nobodys)
        {
            ulong entries = await CountAsync(streams, cancellationToken).ConfigureAwait(false);
            if (!_seen.TryGetValue(topic, out (long Since, ulong Entries) seen) || seen.Entries != entries)
                _seen[topic] = (now, entries);
        }
        Guid[] due = [.. _seen.Where(s => time.GetElapsedTime(s.Value.Since, now) >= Patience).Select(s => s.Key)];
        if (due.Length == 0)
            return;
        await catalog.CatchUpAsync(cancellationToken).ConfigureAwait(false);
        foreach (Guid topic in due.Where(topic => !HasStreams(topic)))
        {
            foreach (string stream in nobodys[topic])
                await replication.Engine.DeleteStreamAsync(stream, cancellationToken).ConfigureAwait(false);
            _seen.Remove(topic);
        }
    }

    private bool HasStreams(Guid topic) => catalog.FindTopic(topic) is { Settings.IsReplicated: true };

    /// <summary>How many entries were ever stored; of a stream that does not answer none.</summary>
    private async Task<ulong> CountAsync(List<string> streams, CancellationToken cancellationToken)
    {
        ulong entries = 0;
        foreach (string stream in streams)
        {
            try
            {
                StreamBounds bounds = await replication
                    .Engine.GetStream(stream)
                    .GetBoundsAsync(cancellationToken)
                    .ConfigureAwait(false);
                entries += bounds.Last;
            }
            catch (ReplicationException)
            {
                // It may have lost its servers: then it does not grow either.
            }
        }
        return entries;
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
