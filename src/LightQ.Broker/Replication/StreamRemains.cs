namespace LightQ.Broker.Replication;

/// <summary>What is left of the state in a stream that has lost something: the best that there is.</summary>
/// <param name="Snapshot">The last snapshot that is whole; null for none.</param>
/// <param name="Positions">The positions of groups behind it, in order.</param>
internal sealed record StreamRemains(SavedState? Snapshot, IReadOnlyList<ReadOnlyMemory<byte>> Positions)
{
    /// <summary>Reads it; of a stream that is gone, or cannot be read, nothing.</summary>
    public static async Task<StreamRemains> ReadAsync(IReplicatedStream stream, CancellationToken cancellationToken)
    {
        SavedState? saved = await FindAsync(stream, cancellationToken).ConfigureAwait(false);
        List<ReadOnlyMemory<byte>> positions = [];
        try
        {
            await foreach (
                StreamEntry entry in stream
                    .ReadAsync((saved?.Sequence ?? 0) + 1, ulong.MaxValue, cancellationToken)
                    .ConfigureAwait(false)
            )
            {
                if (entry.Kind == EntryKind.Positions && ControlEntry.TryDecode(entry, out ControlEntry? decoded))
                    positions.Add(decoded.Value.Body);
            }
        }
        catch (ReplicationException)
        {
            // What was read until then is better than nothing.
        }
        return new StreamRemains(saved, positions);
    }

    private static async Task<SavedState?> FindAsync(IReplicatedStream stream, CancellationToken cancellationToken)
    {
        try
        {
            return await stream.GetLastAsync(EntryKind.Snapshot, cancellationToken).ConfigureAwait(false) is { } last
                ? await SavedState.ReadAsync(stream, last.Sequence, cancellationToken).ConfigureAwait(false)
                : null;
        }
        catch (ReplicationException)
        {
            return null;
        }
    }
}
