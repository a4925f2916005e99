using LightQ.Broker.Logs;
using LightQ.Broker.Scheduling;
using LightQ.Broker.Topics;
using LightQ.Protocol;
using LightQ.Protocol.Frames;
using LightQ.Storage;

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
    /// <param name="request">Where to begin, and what the client saw before.</param>
    /// <param name="policy">Block or DropOldest.</param>
    public BroadcastSubscription(IStreamOwner owner, uint id, Partition partition, in SubscribeFrame request, SlowPolicy policy)
        : base(owner, id, partition)
    {
        _blocks = policy == SlowPolicy.Block && partition.Log is RingLog;
        (StartKind start, long value) = ResumeOf(request, partition.Log);
        _reader = partition.Log.OpenReader(start, value, holds: policy == SlowPolicy.Block, Schedule);
        // The log may begin inside a batch, which then comes whole.
        long held = Math.Max(_reader.Cursor.Offset, partition.Log.StartOffset);
        FirstOffset = start == StartKind.Offset ? Math.Max(value, held) : held;
        if (start == StartKind.Offset && value < held)
            _openingGap = new LogGap(value, held - 1, GapReason.Retention);
        _nextOffset = FirstOffset;
    }

    public override long NextOffset => Volatile.Read(ref _nextOffset);

    private protected override bool Blocks => _blocks;

    private protected override void LeaveTopic()
    {
        Partition.Detach(this);
        _reader.Dispose();
        Partition.RoomMade();
    }

    /// <summary>
    /// A client that returns with an offset of another incarnation, or from behind the end of the log, saw a log that is gone: it starts
    /// anew at the oldest message.
    /// </summary>
    private static (StartKind Start, long Value) ResumeOf(in SubscribeFrame request, ITopicLog log)
    {
        bool otherLog = request.LastIncarnation != 0 && request.LastIncarnation != log.Incarnation;
        bool beyondEnd = request.LastIncarnation != 0 && request.Start == StartKind.Offset && request.StartValue > log.EndOffset;
        return otherLog || beyondEnd ? (StartKind.Earliest, 0) : (request.Start, request.StartValue);
    }

    private protected override ReadResult Read(out LentRun run, out LogGap gap)
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

    private protected override void Advance(in LentRun run)
    {
        _reader.MoveTo(run.End);
        Volatile.Write(ref _nextOffset, run.End.Offset);
    }
}
