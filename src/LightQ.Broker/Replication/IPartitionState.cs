using LightQ.Protocol.Batches;

namespace LightQ.Broker.Replication;

/// <summary>
/// What a partition remembers beyond its log: named producers, delays, and the positions of groups. It is rebuilt from
/// snapshot and log at a takeover, and saved into snapshots; what changes of the positions is saved in between. Every
/// call but <see cref="Collect"/> and <see cref="LearnAsync"/> is made under the partition's append lock.
/// </summary>
internal interface IPartitionState
{
    /// <summary>Takes in what <see cref="Save"/> gave.</summary>
    void Load(ReadOnlySpan<byte> state);

    /// <summary>
    /// Takes in the positions alone of what <see cref="Save"/> gave: the rest has been replayed up to there.
    /// </summary>
    void LoadPositions(ReadOnlySpan<byte> state);

    /// <summary>A batch that was appended by an earlier owner.</summary>
    void OnReplayed(in BatchView batch);

    /// <summary>
    /// Finds out about producers that this node had not heard of when it took something in. Not under the append lock.
    /// </summary>
    /// <exception cref="ReplicationException">The cluster's catalog cannot be read.</exception>
    ValueTask LearnAsync(CancellationToken cancellationToken);

    /// <summary>A batch of an earlier owner came into the journal: once each, in order, before the claim.</summary>
    void OnCopied(in BatchView batch);

    /// <summary>Positions that an earlier owner has saved.</summary>
    void OnPositions(ReadOnlySpan<byte> changed);

    /// <summary>
    /// Ends the groups and notes how far they have got, before the ownership ends: what a member settles later is not
    /// taken.
    /// </summary>
    void Collect();

    /// <summary>The state behind everything that was appended.</summary>
    byte[] Save();

    /// <summary>
    /// The positions that have changed since they were saved, in as many pieces as must be; null when one does not fit
    /// into a piece, so that a snapshot has to hold it.
    /// </summary>
    IReadOnlyList<ReadOnlyMemory<byte>>? SavePositions(int mostBytes);

    /// <summary>What was saved last is in the stream.</summary>
    void OnStored();
}
