using LightQ.Broker.Logs;
using LightQ.Broker.Scheduling;
using LightQ.Broker.Topics;
using LightQ.Protocol;
using LightQ.Protocol.Frames;

namespace LightQ.Broker.Subscriptions;

/// <summary>A subscription that gets a copy of everything.</summary>
internal sealed class BroadcastSubscription : Subscription
{
    private readonly LogReader _reader;
    private readonly bool _blocks;
    private LogGap _openingGap;
    private long _nextOffset;

    /// <param name="owner">The connection.</param>
    /// <param name="id">The stream id.</param>
    /// <param name="partition">The partition.</param>
    /// <param name="start">Where to begin.</param>
    /// <param name="value">The offset or time.</param>
    /// <param name="policy">Block or DropOldest.</param>
    public BroadcastSubscription(IStreamOwner owner, uint id, Partition partition, StartKind start, long value, SlowPolicy policy)
        : base(owner, id, partition)
    {
        _blocks = policy == SlowPolicy.Block && partition.Log is RingLog;
        _reader = partition.Log.OpenReader(start, value, holds: policy == SlowPolicy.Block, Schedule);
        long offset = _reader.Cursor.Offset;
        FirstOffset = offset;
        if (start == StartKind.Offset)
        {
            FirstOffset = Math.Max(value, offset);
            if (value < offset)
                _openingGap = new LogGap(value, offset - 1, GapReason.Retention);
        }
        _nextOffset = FirstOffset;
    }

    public override long NextOffset => Volatile.Read(ref _nextOffset);

    private protected override bool Blocks => _blocks;

    public override void Release()
    {
        Partition.Detach(this);
        _reader.Dispose();
        Partition.RoomMade();
    }

    private protected override ReadResult Read(out LogRun run, out LogGap gap)
    {
        if (_openingGap != default)
        {
            (gap, _openingGap, run) = (_openingGap, default, default);
            return ReadResult.Gap;
        }
        ReadResult result = _reader.TryRead(ProtocolLimits.DeliverRunBytes, out run, out gap);
        if (result == ReadResult.Gap)
            Volatile.Write(ref _nextOffset, _reader.Cursor.Offset);
        return result;
    }

    private protected override void Advance(in LogRun run)
    {
        _reader.MoveTo(run.End);
        Volatile.Write(ref _nextOffset, run.End.Offset);
    }
}
