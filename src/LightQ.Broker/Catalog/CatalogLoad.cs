using LightQ.Broker.Replication;

namespace LightQ.Broker.Catalog;

/// <summary>
/// Reads the stream of a cluster's catalog from its front: the last complete copy, and what came after.
/// </summary>
/// <param name="Tables">What it adds up to.</param>
/// <param name="Applied">The sequence up to which that is.</param>
/// <param name="CopiedAt">The sequence that the copy stands for; 0 without one.</param>
/// <param name="LastId">The id of the entry at <paramref name="Applied"/>.</param>
internal sealed record CatalogLoad(CatalogTables Tables, ulong Applied, ulong CopiedAt, Guid LastId)
{
    /// <exception cref="ReplicationException">
    /// The engine cannot be reached, or entries are missing, be it because another node purges right now.
    /// </exception>
    /// <exception cref="Storage.JournalFormatException">An entry cannot be read.</exception>
    public static async Task<CatalogLoad> ReadAsync(IReplicatedStream stream, CancellationToken cancellationToken)
    {
        StreamBounds bounds = await stream.GetBoundsAsync(cancellationToken).ConfigureAwait(false);
        List<(ulong Sequence, CatalogEntry Entry)> entries = [];
        await foreach (StreamEntry entry in stream.ReadAsync(1, bounds.Last, cancellationToken).ConfigureAwait(false))
        {
            entries.Add((entry.Sequence, CatalogEntry.Read(entry.Payload.Span)));
        }
        // The last entry of all is never purged.
        ulong last = entries.Count == 0 ? 0 : entries[^1].Sequence;
        if (last != bounds.Last)
        {
            throw new ReplicationException(
                $"Stream {stream.Name} ends at {bounds.Last}, and its last entry that can be read is {last}."
            )
            {
                IsLoss = true,
            };
        }

        (ulong Sequence, CatalogEntry Entry)[] copy = FindCopy(entries);
        ulong at = copy.Length == 0 ? 0 : copy[0].Entry.Copy!.At;
        // Behind the copy nothing is purged; in front of it, changes that it stands for, and parts of earlier copies.
        ulong next = copy.Length == 0 ? 1 : copy[0].Sequence;
        foreach ((ulong sequence, _) in entries.Where(e => e.Sequence >= next))
        {
            if (sequence != next)
            {
                throw new ReplicationException(
                    $"Stream {stream.Name} has no entry {next}, and has {sequence} behind it."
                )
                {
                    IsLoss = true,
                };
            }
            next++;
        }

        var tables = new CatalogTables();
        lock (tables.Lock)
        {
            foreach (
                CatalogRecord record in copy.Concat(entries.Where(e => e.Sequence > at && e.Entry.Copy is null))
                    .SelectMany(e => e.Entry.Records)
            )
            {
                tables.Apply(record, isLocal: false);
            }
        }
        return new CatalogLoad(tables, bounds.Last, at, entries.Count == 0 ? Guid.Empty : entries[^1].Entry.Id);
    }

    /// <summary>The parts of the last copy that is complete; none when none is.</summary>
    private static (ulong Sequence, CatalogEntry Entry)[] FindCopy(
        IEnumerable<(ulong Sequence, CatalogEntry Entry)> entries
    ) =>
        entries
            .Where(e => e.Entry.Copy is not null)
            .GroupBy(e => e.Entry.Copy!.Id)
            .Select(g => g.DistinctBy(e => e.Entry.Copy!.Part).ToArray())
            .Where(parts => parts.Length == parts[0].Entry.Copy!.Parts)
            .MaxBy(parts => parts[0].Entry.Copy!.At)
        ?? [];
}
