using LightQ.Protocol.Batches;

namespace LightQ.Broker.Replication;

/// <summary>Takes in what counts of a stream, in its order: who takes over a partition, or looks at it.</summary>
internal interface IReplayTarget
{
    /// <summary>The state of the partition in front of what is read next.</summary>
    void OnSnapshot(ReadOnlySpan<byte> state);

    /// <summary>A batch that counts.</summary>
    /// <returns>False to be asked again when <see cref="WaitForRoomAsync"/> ends.</returns>
    bool TryTake(in BatchView batch);

    /// <summary>Ends when there may be room for a batch.</summary>
    ValueTask WaitForRoomAsync(CancellationToken cancellationToken);
}
