using LightQ.Broker.Replication;
using LightQ.Protocol.Batches;

namespace LightQ.Broker.Backups;

/// <summary>Takes in what a backup holds of a stream: positions of groups end earlier than messages.</summary>
internal sealed class StreamTarget : IReplayTarget
{
    private readonly IReplayTarget _copy;
    private readonly ulong _positions;

    /// <param name="copy">Takes in what counts.</param>
    /// <param name="positions">The last sequence whose positions count.</param>
    public StreamTarget(IReplayTarget copy, ulong positions)
    {
        (_copy, _positions) = (copy, positions);
        Replay = new LogReplay(this);
    }

    /// <summary>Reads the stream into this.</summary>
    public LogReplay Replay { get; }

    void IReplayTarget.OnSnapshot(ReadOnlySpan<byte> state) => _copy.OnSnapshot(state);

    void IReplayTarget.OnPassed(ReadOnlySpan<byte> state)
    {
        if (Replay.Sequence <= _positions)
            _copy.OnPassed(state);
    }

    void IReplayTarget.OnPositions(ReadOnlySpan<byte> changed)
    {
        if (Replay.Sequence <= _positions)
            _copy.OnPositions(changed);
    }

    bool IReplayTarget.TryTake(in BatchView batch, bool isInSnapshot) => _copy.TryTake(batch, isInSnapshot);

    void IReplayTarget.OnEnd(long nextOffset) => _copy.OnEnd(nextOffset);

    ValueTask IReplayTarget.WaitForRoomAsync(CancellationToken cancellationToken) =>
        _copy.WaitForRoomAsync(cancellationToken);
}
