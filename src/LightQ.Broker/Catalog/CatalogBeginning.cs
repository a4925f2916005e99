using System.Diagnostics;
using LightQ.Broker.Replication;
using LightQ.Broker.Topics;
using LightQ.Storage;

namespace LightQ.Broker.Catalog;

/// <summary>
/// Finds the catalog of a cluster at a start, and says whether a node may make it: that there is none, or nothing in
/// it, does not mean that there never was.
/// </summary>
/// <param name="options">The cluster.</param>
/// <param name="isMember">Whether the node belongs to the cluster already.</param>
internal sealed class CatalogBeginning(ReplicationOptions options, bool isMember)
{
    /// <summary>Nothing is lost by waiting so many times as long before a catalog is taken for lost.</summary>
    private const int Looks = 3;

    /// <summary>Streams that are named in a message.</summary>
    private const int MostNamed = 3;

    private static readonly TimeSpan Poll = TimeSpan.FromMilliseconds(100);

    private const string Ways =
        "If another broker of it runs, 'lightq cluster repair --catalog' there writes the catalog anew; else restore a "
        + "backup into an empty directory, and begin a cluster with it. See docs/operate/cluster.md.";

    /// <summary>Why the catalog cannot be read.</summary>
    public static JournalFailure FailureOf(Exception e) => new($"the cluster's catalog cannot be read: {e.Message}", e);

    /// <summary>Reads the catalog, or makes it; tries for a while.</summary>
    /// <param name="time">The clock.</param>
    /// <param name="failureChanged">Called when it cannot be read, and with null when it can again.</param>
    /// <exception cref="ReplicationException">
    /// It cannot be read; or it is lost (<see cref="ReplicationException.IsLoss"/>).
    /// </exception>
    public async Task<(IReplicatedStream Stream, CatalogLoad Load)> WaitAsync(
        TimeProvider time,
        Action<JournalFailure?> failureChanged
    )
    {
        using var patience = new CancellationTokenSource(options.CatalogPatience, time);
        JournalFailure? failure = null;
        long? lostSince = null;
        while (true)
        {
            try
            {
                if (await ReadAsync(time, patience.Token).ConfigureAwait(false) is { } found)
                {
                    if (failure is not null)
                        failureChanged(null);
                    return found;
                }
                lostSince = null;
            }
            catch (Exception e) when (e is ReplicationException or OperationCanceledException)
            {
                if (e is not ReplicationException { IsLoss: true })
                    lostSince = null;
                else if (lostSince is not { } since)
                    lostSince = Stopwatch.GetTimestamp(); // Engines that have just started may not know all yet.
                else if (Stopwatch.GetElapsedTime(since) >= Looks * options.LostAfter)
                    throw;
                if (patience.IsCancellationRequested)
                {
                    throw new ReplicationException(
                        $"The cluster's catalog cannot be read: {failure?.Exception.Message ?? e.Message}",
                        e
                    );
                }
                if (failure is null)
                    failureChanged(failure = FailureOf(e));
                await Task.Delay(Poll, CancellationToken.None).ConfigureAwait(false);
            }
        }
    }

    /// <summary>Reads the catalog, or makes it where nothing says that there was one.</summary>
    /// <returns>The stream, and what it holds; null when it was made just now: it is to be read.</returns>
    /// <exception cref="ReplicationException">
    /// The engine cannot be reached; or the catalog is lost (<see cref="ReplicationException.IsLoss"/>).
    /// </exception>
    private async Task<(IReplicatedStream Stream, CatalogLoad Load)?> ReadAsync(
        TimeProvider time,
        CancellationToken cancellationToken
    )
    {
        List<string> others = await ListAsync(cancellationToken).ConfigureAwait(false);
        bool isThere = others.Remove(options.CatalogStream);
        if (!isThere)
            DemandNew(others, $"the stream {options.CatalogStream} is not there");
        // Also one that is there: it may have other settings.
        IReplicatedStream stream = await options
            .Engine.CreateStreamAsync(options.CatalogStream, options.CatalogReplicas, cancellationToken)
            .ConfigureAwait(false);
        CatalogLoad load = await LoadAsync(stream, cancellationToken).ConfigureAwait(false);
        if (load.Tables.Cluster is not null)
            return (stream, load);
        // Read behind the list: a node that has made it in between has made topics after it.
        DemandNew(others, $"the stream {options.CatalogStream} is empty");
        await AppendFirstAsync(stream, load.Applied, time, cancellationToken).ConfigureAwait(false);
        return null;
    }

    /// <summary>
    /// Appends the record that begins a cluster. Whatever becomes of it: the next read says which node was the first.
    /// </summary>
    public static async Task AppendFirstAsync(
        IReplicatedStream stream,
        ulong last,
        TimeProvider time,
        CancellationToken cancellationToken
    )
    {
        var first = new CatalogRecord
        {
            Cluster = new CatalogRecord.ClusterEntry(
                Guid.NewGuid(),
                time.GetUtcNow(),
                CatalogRecord.ClusterEntry.NewSecret()
            ),
        };
        await stream
            .AppendAsync(EntryKind.Data, new CatalogEntry(Guid.NewGuid(), [first]).Write(), last, cancellationToken)
            .ConfigureAwait(false);
    }

    private static async Task<CatalogLoad> LoadAsync(IReplicatedStream stream, CancellationToken cancellationToken)
    {
        try
        {
            return await CatalogLoad.ReadAsync(stream, cancellationToken).ConfigureAwait(false);
        }
        catch (ReplicationException e) when (e.IsLoss)
        {
            throw new ReplicationException($"the catalog has lost something: {e.Message} {Ways}", e) { IsLoss = true };
        }
    }

    private async Task<List<string>> ListAsync(CancellationToken cancellationToken)
    {
        List<string> names = [];
        await foreach (
            string name in options
                .Engine.ListStreamsAsync(options.StreamPrefix, cancellationToken)
                .ConfigureAwait(false)
        )
        {
            if (name == options.CatalogStream || StreamCensus.TopicOf(name, options.StreamPrefix) is not null)
                names.Add(name);
        }
        return names;
    }

    private void DemandNew(List<string> others, string found)
    {
        if (isMember)
        {
            throw new ReplicationException(
                $"the catalog of the cluster '{options.Cluster}' is empty: {found}. Cluster:Engine is another than "
                    + $"before, or has lost its streams. {Ways}"
            )
            {
                IsLoss = true,
            };
        }
        if (others.Count == 0)
            return;
        string names = string.Join(", ", others.Order(StringComparer.Ordinal).Take(MostNamed));
        throw new ReplicationException(
            $"the engine has {others.Count} streams of a cluster '{options.Cluster}' ({names}"
                + $"{(others.Count > MostNamed ? ", ..." : "")}), and no catalog that knows them: {found}. This broker "
                + "begins no cluster over them, because they may hold messages of another one that has lost its "
                + $"catalog. {Ways} To begin a new cluster all the same: 'lightq cluster init'."
        )
        {
            IsLoss = true,
        };
    }
}
