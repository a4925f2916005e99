using LightQ.Broker.Replication;

namespace LightQ.Broker.Catalog;

/// <summary>
/// Writes the stream of a cluster's catalog anew, from what a node knows of it: a copy in parts, which counts when all
/// of them are there.
/// </summary>
internal static class CatalogRewrite
{
    /// <summary>Writes it, in place of what is there.</summary>
    /// <returns>What it holds then.</returns>
    /// <exception cref="ReplicationException">The engine does not take it; no catalog is there then.</exception>
    public static async Task<CatalogLoad> RunAsync(
        ReplicationOptions options,
        IReadOnlyList<CatalogRecord> records,
        CancellationToken cancellationToken
    )
    {
        string name = options.CatalogStream;
        options.Events?.OnRemoved(
            $"the stream {name} of the engine",
            "it has lost something, and is written anew from what this node knows of the catalog"
        );
        await options.Engine.DeleteStreamAsync(name, cancellationToken).ConfigureAwait(false);
        IReplicatedStream stream = await options
            .Engine.CreateStreamAsync(name, options.CatalogReplicas, cancellationToken)
            .ConfigureAwait(false);
        CatalogRecord[][] parts = [.. CatalogEntry.Split(records, options.Engine.MaxEntryBytes)];
        var copy = Guid.NewGuid();
        for (int i = 0; i < parts.Length; i++)
        {
            var part = new CatalogEntry.CopyPart(copy, At: 0, i, parts.Length);
            EntryAppend answer = await stream
                .AppendAsync(
                    EntryKind.Snapshot,
                    new CatalogEntry(Guid.NewGuid(), parts[i], part).Write(),
                    (ulong)i,
                    cancellationToken
                )
                .ConfigureAwait(false);
            if (answer.Outcome != AppendOutcome.Stored)
                throw new ReplicationException($"Stream {name} is not whole: {answer.Reason}");
        }
        return await CatalogLoad.ReadAsync(stream, cancellationToken).ConfigureAwait(false);
    }
}
