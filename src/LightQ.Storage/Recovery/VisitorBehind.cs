using LightQ.Protocol.Batches;
using LightQ.Storage.Segments;

namespace LightQ.Storage.Recovery;

/// <summary>
/// Passes on the headers behind a snapshot's position, but for those of batches whose payload is lost: they are not
/// stored. The walk itself begins at the segment's first batch, where its chain does.
/// </summary>
internal sealed class VisitorBehind(IRecoveredBatchVisitor visitor, long from, Segment segment, HashSet<long> damaged)
    : IRecoveredBatchVisitor
{
    private long _position = segment.BasePosition;

    public void OnSnapshot(ReadOnlySpan<byte> snapshot) => visitor.OnSnapshot(snapshot);

    public void OnBatch(in BatchView header)
    {
        if (_position >= from && !damaged.Contains(_position))
            visitor.OnBatch(header);
        _position += header.Length;
    }
}
