using LightQ.Broker.Replication;
using LightQ.Broker.Topics;

namespace LightQ.Broker.Catalog;

/// <summary>
/// Begins a cluster where the engine has streams of one, and no catalog: what no broker does by itself.
/// </summary>
/// <param name="engine">The engine.</param>
/// <param name="cluster">The cluster's name.</param>
public sealed class ClusterInit(IReplicationEngine engine, string cluster)
{
    private readonly ReplicationOptions _options = new()
    {
        Engine = engine,
        Cluster = cluster,
        Node = "",
    };

    /// <summary>Looks at what there is.</summary>
    /// <returns>The cluster that there is already, or null; and the streams of partitions.</returns>
    /// <exception cref="ReplicationException">The engine does not answer.</exception>
    public async Task<(Guid? Cluster, IReadOnlyList<string> Streams)> ExamineAsync(CancellationToken cancellationToken)
    {
        List<string> streams = [];
        bool isThere = false;
        await foreach (
            string name in engine.ListStreamsAsync(_options.StreamPrefix, cancellationToken).ConfigureAwait(false)
        )
        {
            isThere |= name == _options.CatalogStream;
            if (StreamCensus.TopicOf(name, _options.StreamPrefix) is not null)
                streams.Add(name);
        }
        return (isThere ? await FindAsync(cancellationToken).ConfigureAwait(false) : null, streams);
    }

    /// <summary>Makes the catalog, in place of one that has lost its first record.</summary>
    /// <param name="time">The clock.</param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <returns>The cluster's id.</returns>
    /// <exception cref="ReplicationException">There is one, or the engine does not take it.</exception>
    public async Task<Guid> RunAsync(TimeProvider time, CancellationToken cancellationToken)
    {
        if ((await ExamineAsync(cancellationToken).ConfigureAwait(false)).Cluster is { } found)
            throw new ReplicationException($"There is a cluster '{cluster}' already, {found}.");
        await engine.DeleteStreamAsync(_options.CatalogStream, cancellationToken).ConfigureAwait(false);
        IReplicatedStream stream = await engine
            .CreateStreamAsync(_options.CatalogStream, _options.CatalogReplicas, cancellationToken)
            .ConfigureAwait(false);
        await CatalogBeginning.AppendFirstAsync(stream, 0, time, cancellationToken).ConfigureAwait(false);
        return await FindAsync(cancellationToken).ConfigureAwait(false)
            ?? throw new ReplicationException($"Stream {_options.CatalogStream} does not take the first record.");
    }

    private async Task<Guid?> FindAsync(CancellationToken cancellationToken)
    {
        try
        {
            CatalogLoad load = await CatalogLoad
                .ReadAsync(engine.GetStream(_options.CatalogStream), cancellationToken)
                .ConfigureAwait(false);
            return load.Tables.Cluster?.Id;
        }
        catch (ReplicationException e) when (e.IsLoss)
        {
            return null;
        }
    }
}
