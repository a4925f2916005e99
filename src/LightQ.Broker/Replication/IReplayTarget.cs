using LightQ.Protocol.Batches;

namespace LightQ.Broker.Replication;

/// <summary>Takes in what counts of a stream, in its order: who takes over a partition, or looks at it.</summary>
internal interface IReplayTarget
{
    /// <summary>The state of the partition in front of what is read next.</summary>
    void OnSnapshot(ReadOnlySpan<byte> state);

    /// <summary>A snapshot lies in what is read: its state is what has been read up to there.</summary>
    void OnPassed(ReadOnlySpan<byte> state);

    /// <summary>Positions of groups that count.</summary>
    void OnPositions(ReadOnlySpan<byte> changed);

    /// <summary>A batch that counts.</summary>
    /// <param name="batch">The batch.</param>
    /// <param name="isInSnapshot">Whether the state of a snapshot that comes later knows it already.</param>
    /// <returns>False to be asked again when <see cref="WaitForRoomAsync"/> ends.</returns>
    bool TryTake(in BatchView batch, bool isInSnapshot);

    /// <summary>An entry that counts was taken in as a whole: data, or a claim.</summary>
    /// <param name="mark">The entry, and what is known behind it.</param>
    /// <param name="bytes">How long it is.</param>
    void OnRead(in StreamMark mark, long bytes)
    {
        // Only who keeps what it reads remembers how far it is.
    }

    /// <summary>Everything in front of an offset has been read, but for what retention has removed.</summary>
    /// <exception cref="ReplicationException">The target lacks something of it that it needs.</exception>
    void OnEnd(long nextOffset);

    /// <summary>Finds out what it has to know of what was taken in: for who serves it from now on.</summary>
    /// <exception cref="ReplicationException">That cannot be read.</exception>
    ValueTask LearnAsync(CancellationToken cancellationToken) => ValueTask.CompletedTask;

    /// <summary>Ends when there may be room for a batch.</summary>
    ValueTask WaitForRoomAsync(CancellationToken cancellationToken);
}
