using System.Collections.Concurrent;
using LightQ.Broker.Catalog;
using LightQ.Broker.Cluster;
using LightQ.Broker.Replication;
using LightQ.Scheduling;

namespace LightQ.Broker.Topics;

/// <summary>
/// Has the catalog note which partitions this node owns, and how far they have come: what a stream must have is known
/// then though no broker runs that has seen it, and a stream that lacks it is never taken for a new one.
/// </summary>
/// <remarks>
/// A claim is noted at once, together with those that come with it; how far a partition has come, each minute and at
/// the end. Nothing waits for that: what could not be noted is noted later. Thread-safe.
/// </remarks>
internal sealed class OwnerNotes(TopicCatalog catalog, TimeProvider time) : IAsyncDisposable
{
    private static readonly TimeSpan Interval = TimeSpan.FromMinutes(1),
        Gathering = TimeSpan.FromMilliseconds(200),
        Again = TimeSpan.FromSeconds(5),
        LongestEnd = TimeSpan.FromSeconds(2);

    private readonly ConcurrentDictionary<Owned, bool> _owned = new();
    private readonly ConcurrentDictionary<PartitionId, CatalogRecord.OwnerEntry> _ended = new();
    private readonly CancellationTokenSource _stop = new();
    private readonly Signal _claimed = new();
    private readonly Lock _lock = new();
    private Task? _running;

    /// <summary>This node has claimed a partition, and owns it until the result is disposed of.</summary>
    /// <param name="partition">The partition.</param>
    /// <param name="epoch">The claim's epoch.</param>
    /// <param name="end">One behind the last offset that is confirmed.</param>
    public IDisposable Begin(PartitionId partition, uint epoch, Func<long> end)
    {
        var owned = new Owned(this, partition, epoch, end);
        _owned[owned] = true;
        lock (_lock)
            _running ??= Task.Run(RunAsync);
        _claimed.Set();
        return owned;
    }

    /// <summary>The newest owner of a partition, of the one that was heard of and the one that was noted.</summary>
    public HeardOwner Newest(PartitionId partition, in Situation heard)
    {
        CatalogRecord.OwnerEntry? noted = catalog.FindOwner(partition.Topic, partition.Partition);
        return noted is null || noted.Epoch < heard.Epoch ? new HeardOwner(heard.Epoch, heard.End)
            : noted.Epoch > heard.Epoch ? new HeardOwner(noted.Epoch, noted.End)
            : new HeardOwner(noted.Epoch, Math.Max(noted.End, heard.End));
    }

    /// <summary>Notes for the last time, as far as that can be done at once. Once or more.</summary>
    public async ValueTask DisposeAsync()
    {
        if (_stop.IsCancellationRequested)
            return;
        await _stop.CancelAsync().ConfigureAwait(false);
        if (_running is { } running)
            await running.ConfigureAwait(false);
        await NoteAsync().WaitAsync(LongestEnd, time).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
    }

    private async Task RunAsync()
    {
        TimeSpan wait = Interval;
        while (!_stop.IsCancellationRequested)
        {
            using (var claimed = CancellationTokenSource.CreateLinkedTokenSource(_stop.Token))
            {
                await Task.WhenAny(_claimed.WaitAsync(claimed.Token).AsTask(), Task.Delay(wait, time, claimed.Token))
                    .ConfigureAwait(false);
                await claimed.CancelAsync().ConfigureAwait(false);
            }
            await Task.Delay(Gathering, time, _stop.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            if (_stop.IsCancellationRequested)
                return;
            Task noting = NoteAsync();
            // A stop does not wait for an engine that does not answer.
            await noting.WaitAsync(_stop.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            wait = noting.IsCompletedSuccessfully ? Interval : Again;
        }
    }

    /// <exception cref="BrokerException">They are not stored; they are noted with the next.</exception>
    private async Task NoteAsync()
    {
        KeyValuePair<PartitionId, CatalogRecord.OwnerEntry>[] ended = [.. _ended];
        CatalogRecord.OwnerEntry[] news =
        [
            .. ended
                .Select(e => e.Value)
                .Concat(_owned.Keys.Select(o => o.Entry))
                .Where(o => o.IsNewerThan(catalog.FindOwner(o.TopicId, o.Partition))),
        ];
        if (news.Length != 0)
            await catalog.NoteOwnersAsync(news).ConfigureAwait(false);
        foreach (KeyValuePair<PartitionId, CatalogRecord.OwnerEntry> noted in ended)
            _ended.TryRemove(noted);
    }

    private sealed class Owned(OwnerNotes notes, PartitionId partition, uint epoch, Func<long> end) : IDisposable
    {
        public CatalogRecord.OwnerEntry Entry => new(partition.Topic, partition.Partition, epoch, end());

        public void Dispose()
        {
            if (notes._owned.TryRemove(this, out _))
                notes._ended[partition] = Entry;
        }
    }
}
