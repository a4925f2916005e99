using System.Globalization;
using LightQ.Broker.Catalog;
using LightQ.Broker.Cluster;
using LightQ.Broker.Replication;

namespace LightQ.Broker.Topics;

/// <summary>
/// Finds streams of partitions whose topic the catalog does not know, or as one without replicas, and says so. They may
/// be all that is left of a topic, so that nothing removes them by itself: an operator does.
/// </summary>
/// <remarks>
/// A broker that is killed between making streams and storing the topic's record leaves some. So does a catalog that
/// has lost records. Streams that are being filled with what a topic has grow, one after the other.
/// </remarks>
internal sealed class StreamCensus(TopicCatalog catalog, ReplicationOptions replication, TimeProvider time)
    : IAsyncDisposable
{
    /// <summary>How long streams that do not grow are not named: their record comes in seconds, or never.</summary>
    public static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    /// <summary>Streams that the condition names.</summary>
    private const int MostNamed = 20;

    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(15);

    private readonly Dictionary<Guid, (long Since, ulong Entries)> _seen = [];
    private readonly CancellationTokenSource _stop = new();
    private Task _running = Task.CompletedTask;

    /// <summary>Begins to look, four times a minute.</summary>
    public void Begin() => _running = Task.Run(RunAsync);

    /// <summary>Ends that.</summary>
    public async ValueTask DisposeAsync()
    {
        await _stop.CancelAsync().ConfigureAwait(false);
        await _running.ConfigureAwait(false);
        _stop.Dispose();
    }

    /// <summary>Removes streams, each of which no topic has.</summary>
    /// <param name="names">Their names.</param>
    /// <param name="by">Who wants it.</param>
    /// <param name="cancellationToken">Gives up; those that were removed stay so.</param>
    /// <exception cref="BrokerException">One is a topic's, or no partition's: none is removed.</exception>
    public async Task RemoveAsync(IReadOnlyList<string> names, string by, CancellationToken cancellationToken)
    {
        await CatchUpAsync(cancellationToken).ConfigureAwait(false);
        foreach (string name in names)
        {
            if (TopicOf(name, replication.StreamPrefix) is not { } topic)
            {
                throw new BrokerException(
                    ErrorCode.InvalidArgument,
                    $"'{name}' is no stream of a partition of the cluster '{replication.Cluster}'."
                );
            }
            if (catalog.FindTopic(topic) is { Settings.IsReplicated: true } known)
            {
                throw new BrokerException(
                    ErrorCode.InvalidArgument,
                    $"'{name}' is a stream of the topic '{known.Name}'; delete the topic instead."
                );
            }
        }
        try
        {
            foreach (string name in names)
            {
                await replication.Engine.DeleteStreamAsync(name, cancellationToken).ConfigureAwait(false);
                replication.Events?.OnRemoved(
                    $"the stream {name} of the engine",
                    $"{by} wished it, and no topic has it"
                );
            }
            await LookAsync(cancellationToken).ConfigureAwait(false);
        }
        catch (ReplicationException e)
        {
            throw new BrokerException(ErrorCode.Unavailable, e.Message);
        }
    }

    /// <summary>Looks once.</summary>
    /// <exception cref="ReplicationException">The engine or the catalog cannot be read.</exception>
    internal async Task LookAsync(CancellationToken cancellationToken)
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
        lock (_seen)
        {
            foreach (Guid known in _seen.Keys.Where(topic => !nobodys.ContainsKey(topic)).ToArray())
                _seen.Remove(known);
        }
        foreach ((Guid topic, List<string> streams) in nobodys)
        {
            ulong entries = await CountAsync(streams, cancellationToken).ConfigureAwait(false);
            lock (_seen)
            {
                if (!_seen.TryGetValue(topic, out (long Since, ulong Entries) seen) || seen.Entries != entries)
                    _seen[topic] = (now, entries);
            }
        }
        Guid[] due = DueAt(now);
        if (due.Length != 0)
            await catalog.CatchUpAsync(cancellationToken).ConfigureAwait(false);
        Tell([.. due.Where(topic => !HasStreams(topic))], nobodys);
    }

    /// <summary>The topic that a stream is of, by its name; null for other streams.</summary>
    internal static Guid? TopicOf(string stream, string prefix)
    {
        if (!stream.StartsWith(prefix, StringComparison.Ordinal))
            return null;
        string[] parts = stream[prefix.Length..].Split('_');
        return parts.Length == 2 && Guid.TryParseExact(parts[0], "N", out Guid id) && uint.TryParse(parts[1], out _)
            ? id
            : null;
    }

    private Guid[] DueAt(long now)
    {
        lock (_seen)
            return [.. _seen.Where(s => time.GetElapsedTime(s.Value.Since, now) >= Patience).Select(s => s.Key)];
    }

    private void Tell(Guid[] topics, Dictionary<Guid, List<string>> nobodys)
    {
        string[] names = [.. topics.SelectMany(topic => nobodys[topic]).Order(StringComparer.Ordinal)];
        if (names.Length == 0)
        {
            replication.Conditions.End(ConditionKind.UnknownStreams, replication.Cluster);
            return;
        }
        string more = names.Length > MostNamed ? ", ..." : "";
        replication.Conditions.Begin(
            ConditionKind.UnknownStreams,
            replication.Cluster,
            string.Create(
                CultureInfo.InvariantCulture,
                $"{names.Length} of {topics.Length} topics that the catalog does not know: "
                    + $"{string.Join(", ", names.Take(MostNamed))}{more}"
            ),
            "A broker that was killed while it created a topic leaves such streams, and so does a catalog that has "
                + "lost records. Nothing removes them by itself: 'lightq cluster remove-stream NAME' does."
        );
    }

    private async Task CatchUpAsync(CancellationToken cancellationToken)
    {
        try
        {
            await catalog.CatchUpAsync(cancellationToken).ConfigureAwait(false);
        }
        catch (ReplicationException e)
        {
            throw new BrokerException(ErrorCode.Unavailable, $"The cluster's catalog cannot be read: {e.Message}");
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

    private async Task RunAsync()
    {
        while (!_stop.IsCancellationRequested)
        {
            await Task.Delay(Interval, time, _stop.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            if (_stop.IsCancellationRequested)
                return;
            try
            {
                await LookAsync(_stop.Token).ConfigureAwait(false);
            }
            catch (Exception e) when (e is ReplicationException or OperationCanceledException)
            {
                // It is tried again; that the engine does not answer is said elsewhere.
            }
        }
    }
}
