using LightQ.Broker.Logs;
using LightQ.Broker.Streams;
using LightQ.Broker.Topics;
using LightQ.Protocol;
using LightQ.Protocol.Frames;
using LightQ.Storage;
using LightQ.Storage.Spilling;

namespace LightQ.Broker.Subscriptions;

/// <summary>A subscription that gets a copy of everything.</summary>
/// <remarks>
/// With explicit settlement it keeps account of what was sent and not yet settled: a message counts as settled once.
/// </remarks>
internal sealed class BroadcastSubscription : Subscription
{
    private readonly LogReader _reader;
    private readonly YieldingReader? _yielding;
    private readonly Queue<LogGap> _openingGaps = new();
    private readonly UnsettledMessages? _unsettled;
    private readonly Lock _settling = new();
    private long _nextOffset;

    /// <param name="owner">The connection.</param>
    /// <param name="id">The stream id.</param>
    /// <param name="partition">The partition.</param>
    /// <param name="request">Where to begin, and what the client saw before.</param>
    /// <param name="policy">
    /// What happens when it is slower than a transient topic; never the topic's default. A durable topic's log is its
    /// backlog whatever the policy.
    /// </param>
    /// <param name="spills">Where it keeps what has to leave the ring.</param>
    public BroadcastSubscription(
        IStreamOwner owner,
        uint id,
        Partition partition,
        in SubscribeFrame request,
        SlowPolicy policy,
        SpillStore spills
    )
        : base(owner, id, partition)
    {
        SlowPolicy = policy;
        _unsettled = request.SettleMode == SettleMode.Explicit ? new UnsettledMessages() : null;
        (StartKind start, long value) = (request.Start, request.StartValue);
        bool resumes = start == StartKind.Offset && request.LastIncarnation != 0;
        LogGap cut = resumes
            ? LogDivergence.Find(partition.Log, request.LastOffset + 1, request.LastEpoch, request.LastIncarnation)
            : default;
        if (cut != default)
        {
            _openingGaps.Enqueue(cut);
            value = Math.Min(value, cut.FirstOffset);
        }
        _yielding = partition.Log is RingLog ring ? OpenYielding(ring, start, value, spills) : null;
        _reader = _yielding ?? partition.Log.OpenReader(start, value, holds: policy == SlowPolicy.Block, Schedule);
        // The log may begin inside a batch, which then comes whole.
        long held = Math.Max(_reader.Cursor.Offset, partition.Log.StartOffset);
        FirstOffset = start == StartKind.Offset ? Math.Max(value, held) : held;
        long told = cut == default ? value : Math.Max(value, cut.LastOffset + 1);
        if (start == StartKind.Offset && told < held)
            _openingGaps.Enqueue(new LogGap(told, held - 1, GapReason.Retention));
        _nextOffset = FirstOffset;
    }

    public override long NextOffset => Volatile.Read(ref _nextOffset);

    public override SlowPolicy SlowPolicy { get; }

    public override long KeptBytes => _yielding?.KeptBytes ?? 0;

    private protected override bool Blocks => SlowPolicy == SlowPolicy.Block && Partition.Log is RingLog;

    public override SettleOutcome Settle(in SettleRange range, ReadOnlySpan<byte> reasonUtf8)
    {
        if (_unsettled is null || range.Kind != SettleKind.Complete || range.DeliveryId != 0)
            return SettleOutcome.Unknown;
        lock (_settling)
        {
            if (!_unsettled.TryRemove(range.FirstOffset, range.Count))
                return SettleOutcome.Unknown;
            EndWhenOverfull(_unsettled);
        }
        Partition.Counters.Settled(range.Count);
        return SettleOutcome.Done;
    }

    /// <summary>A reader that no producer waits for; null for the policies that need none.</summary>
    private YieldingReader? OpenYielding(RingLog ring, StartKind start, long value, SpillStore spills)
    {
        YieldingReader? reader = SlowPolicy switch
        {
            SlowPolicy.DropNewest => new DropNewestReader(ring, RequestClose, spills.Memory),
            SlowPolicy.Disconnect => new DisconnectingReader(ring, RequestClose),
            SlowPolicy.SpillToDisk => new SpillingReader(ring, RequestClose, Schedule, spills, Owner.User),
            _ => null,
        };
        if (reader is not null)
        {
            HoldTurns(); // The subscription can end from now on, and the client must learn first that it was opened.
            ring.Open(reader, start, value);
        }
        return reader;
    }

    private protected override void LeaveTopic()
    {
        Partition.Detach(this);
        _reader.Dispose();
        Partition.RoomMade();
    }

    private protected override ReadResult Read(out LentRun run, out LogGap gap)
    {
        if (_openingGaps.TryDequeue(out gap))
        {
            run = default;
            return ReadResult.Gap;
        }
        ReadResult result = _reader.TryRead(ProtocolLimits.DeliverRunBytes, out run, out gap);
        if (result == ReadResult.Gap)
            Volatile.Write(ref _nextOffset, _reader.Cursor.Offset);
        if (_unsettled is not null && result == ReadResult.Run)
        {
            lock (_settling)
            {
                _unsettled.Add(Math.Max(run.Start.Offset, FirstOffset), run.End.Offset);
                EndWhenOverfull(_unsettled); // Each gap adds a range, too.
            }
        }
        return result;
    }

    private void EndWhenOverfull(UnsettledMessages unsettled)
    {
        if (unsettled.IsOverfull)
        {
            RequestClose(
                new StreamClose(
                    ErrorCode.ResourceExhausted,
                    $"the unsettled messages lie in more than {UnsettledMessages.MostRanges} pieces"
                )
            );
        }
    }

    private protected override void Advance(in LentRun run)
    {
        _reader.MoveTo(run.End);
        Volatile.Write(ref _nextOffset, run.End.Offset);
    }
}
