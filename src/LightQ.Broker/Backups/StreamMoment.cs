using LightQ.Broker.Replication;
using LightQ.Broker.Topics;

namespace LightQ.Broker.Backups;

/// <summary>Up to where the stream of a partition belongs to a backup.</summary>
/// <param name="Topic">The topic.</param>
/// <param name="Index">The partition's number.</param>
/// <param name="Stream">Its stream.</param>
/// <param name="Saved">A snapshot that counts, in front of all of it; null for none.</param>
/// <param name="Positions">The last sequence whose positions of groups count.</param>
/// <param name="Last">The last sequence.</param>
internal sealed record StreamMoment(
    Topic Topic,
    uint Index,
    IReplicatedStream Stream,
    SavedState? Saved,
    ulong Positions,
    ulong Last
)
{
    /// <summary>The moment of a partition as of now.</summary>
    /// <exception cref="ReplicationException">The engine cannot be reached, or the snapshot is damaged.</exception>
    public static async Task<StreamMoment> TakeAsync(
        Topic topic,
        uint index,
        IReplicatedStream stream,
        CancellationToken cancellationToken
    )
    {
        // The snapshot first: everything else lies behind it.
        SavedState? saved = await SavedState.FindAsync(stream, cancellationToken).ConfigureAwait(false);
        StreamBounds bounds = await stream.GetBoundsAsync(cancellationToken).ConfigureAwait(false);
        return new StreamMoment(topic, index, stream, saved, bounds.Last, bounds.Last);
    }

    /// <summary>The same, with the messages that have come since.</summary>
    /// <exception cref="ReplicationException">The engine cannot be reached.</exception>
    public async Task<StreamMoment> ExtendAsync(CancellationToken cancellationToken)
    {
        StreamBounds bounds = await Stream.GetBoundsAsync(cancellationToken).ConfigureAwait(false);
        return this with { Last = bounds.Last };
    }
}
