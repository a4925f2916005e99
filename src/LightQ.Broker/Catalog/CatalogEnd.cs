using LightQ.Broker.Replication;

namespace LightQ.Broker.Catalog;

/// <summary>Compares the stream of a cluster's catalog with what a node has applied of it.</summary>
/// <param name="stream">The stream's name.</param>
internal sealed class CatalogEnd(string stream)
{
    /// <summary>Demands that the stream goes as far as the node has applied it.</summary>
    /// <exception cref="ReplicationException">It does not.</exception>
    public void Demand(in StreamBounds bounds, ulong applied)
    {
        // The last entry of all is never purged.
        if (bounds.Last < applied)
            throw Loss($"Stream {stream} ends at entry {bounds.Last}, and this node has applied {applied}.");
        if (bounds.First > bounds.Last && applied != 0)
            throw Loss($"Stream {stream} is empty, and this node has applied {applied} entries of it.");
    }

    /// <summary>Demands that the entry which was applied last is what the stream has there.</summary>
    /// <exception cref="ReplicationException">It is not.</exception>
    public void Demand(in StreamEntry entry, ulong applied, Guid id)
    {
        if (entry.Sequence == applied && CatalogEntry.Read(entry.Payload.Span).Id != id)
        {
            throw Loss(
                $"Stream {stream} has another entry {entry.Sequence} than this node has applied: it was made anew."
            );
        }
    }

    /// <summary>Demands that a catalog is that of the cluster which a node belongs to.</summary>
    /// <exception cref="ReplicationException">It is not.</exception>
    public void Demand(CatalogTables found, CatalogTables known)
    {
        if (found.Cluster?.Id != known.Cluster?.Id)
        {
            throw Loss(
                $"Stream {stream} is the catalog of the cluster {found.Cluster?.Id}, and this node belongs to "
                    + $"{known.Cluster?.Id}."
            );
        }
    }

    private static ReplicationException Loss(string what) => new(what) { IsLoss = true };
}
