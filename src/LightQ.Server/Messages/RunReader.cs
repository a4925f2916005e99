using System.Buffers;
using System.Text;
using LightQ.Broker;
using LightQ.Broker.Topics;
using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Control;
using LightQ.Protocol.Frames;
using LightQ.Protocol.Records;
using LightQ.Scheduling;
using LightQ.Server.Limits;
using LightQ.Storage;
using GapReason = LightQ.Client.GapReason;
using SettleKind = LightQ.Client.SettleKind;
using Subscription = LightQ.Broker.Subscriptions.Subscription;

namespace LightQ.Server.Messages;

/// <summary>
/// Reads the messages of one run after the other, whatever form they are sent in: skips what is not due, reports what
/// has expired or is damaged as gaps, inflates. Not thread-safe.
/// </summary>
/// <remarks>
/// Call <see cref="Load"/> with a run, then <see cref="Next"/> until it says <see cref="RunStep.End"/>; at
/// <see cref="RunStep.Records"/>, call <see cref="TryRead"/> for as many as are wanted. Keeps a copy of one run, and of
/// one batch inflated: all that a call holds of its topic, however many partitions it reads and however slow it is. A
/// batch whose messages are delivered bit by bit stays until another run comes, and so both are counted.
/// </remarks>
/// <param name="time">The clock.</param>
/// <param name="held">Counts what it keeps; null where that is gone before the answer is.</param>
internal sealed class RunReader(TimeProvider time, BodyAccount? held = null)
{
    private readonly SteadyClock _clock = SteadyClock.Over(time);
    private readonly BatchInflater _inflater = new(ProtocolLimits.InflatedBatchBytes);
    private Subscription? _source;
    private GroupDelivery _range;
    private long _loadedAt;
    private byte[] _run = [];
    private int _runLength;
    private int _nextBatch;
    private long _runEnd;
    private long _expected;
    private byte[] _batch = [];
    private int _firstRecord;
    private int _recordsEnd;
    private int _recordCount;
    private long _baseOffset;
    private bool _isBatchSound;
    private int _record;
    private long _offset;
    private long _end;
    private LogGap? _gap;

    /// <summary>
    /// Whether there is nothing left of the run; known once <see cref="Next"/> has said that it is at its end.
    /// </summary>
    public bool IsExhausted => _gap is null && _offset >= _end && _nextBatch >= _runLength;

    /// <summary>Whose messages they are.</summary>
    public Subscription Source => _source!;

    /// <summary>What the member of a group may settle; its count is 0 for others.</summary>
    public GroupDelivery Range => _range;

    /// <summary>When the lock on them ends, in unix microseconds.</summary>
    public long LockEnd { get; private set; }

    /// <summary>The gap that <see cref="Next"/> has found.</summary>
    public LogGap Gap { get; private set; }

    /// <summary>When the current batch was stored, in unix microseconds.</summary>
    public long AppendTime { get; private set; }

    /// <summary>The id of the batch's only message; empty when it has none.</summary>
    public string MessageId { get; private set; } = "";

    private bool IsRange => _range.Count != 0;

    private long Now => UnixMicroseconds.From(_clock.GetUtcNow());

    /// <summary>Takes a copy of a run; the one before is gone.</summary>
    /// <param name="source">Whose it is.</param>
    /// <param name="delivery">The run.</param>
    /// <exception cref="BrokerException">There is no memory for it.</exception>
    public void Load(Subscription source, in Broker.Subscriptions.Delivery delivery)
    {
        if (_source != source)
            _source?.ForgetLastBatch();
        _range = delivery.Range;
        _runEnd = delivery.Run.End.Offset;
        LockEnd = Now + (_range.LockMilliseconds * 1000L);
        _loadedAt = time.GetTimestamp();
        if (delivery.Run.Memory.IsEmpty)
        {
            BeginRange(); // Of the batch that is here.
            return;
        }
        Unload();
        _source = source;
        held?.Set(delivery.Run.Memory.Length);
        _runLength = delivery.Run.Memory.Length;
        _run = ArrayPool<byte>.Shared.Rent(_runLength);
        delivery.Run.Memory.CopyTo(_run);
        // A group may hand back what is older than its position was.
        _expected =
            source.GroupName.Length != 0
                ? delivery.Run.Start.Offset
                : Math.Max(delivery.Run.Start.Offset, source.FirstOffset);
    }

    /// <summary>Lets go of a run that is exhausted, unless more messages of its batch are to be delivered.</summary>
    public void Finish()
    {
        if (_source is null || (IsRange && _range.FirstOffset + _range.Count < _runEnd))
            return;
        _source.ForgetLastBatch();
        Unload();
    }

    /// <summary>Lets go of the run.</summary>
    public void Unload()
    {
        if (_run.Length != 0)
            ArrayPool<byte>.Shared.Return(_run);
        _inflater.Return();
        held?.Clear();
        (_source, _run, _batch, _runLength, _nextBatch, _offset, _end, _gap) = (null, [], [], 0, 0, 0, 0, null);
        (_record, _recordsEnd, _firstRecord) = (0, 0, 0);
    }

    private bool IsLockOver() => time.GetElapsedTime(_loadedAt) >= TimeSpan.FromMilliseconds(_range.LockMilliseconds);

    /// <summary>Goes to the next messages, or to a gap.</summary>
    public RunStep Next()
    {
        while (true)
        {
            if (_gap is { } gap)
            {
                (_gap, Gap) = (null, gap);
                return RunStep.Gap;
            }
            // While it waited for a client that does not read, or grants no credit, its lock has run out.
            if (_offset < _end && IsRange && IsLockOver())
                _offset = _end;
            if (_offset < _end)
                return RunStep.Records;
            if (!OpenNextBatch())
                return RunStep.End;
        }
    }

    /// <summary>Reads the next of the messages at hand.</summary>
    /// <param name="record">The message; valid until the next call of any member.</param>
    /// <returns>False when there is none: another step comes next, which is a gap if it could not be read.</returns>
    public bool TryRead(out RecordView record)
    {
        record = default;
        if (_gap is not null || _offset >= _end)
            return false;
        try
        {
            RecordEnumerator records = Records();
            if (!records.MoveNext())
            {
                Damage();
                return false;
            }
            record = records.Current;
            StepOver(record);
            return true;
        }
        catch (ProtocolException)
        {
            Damage();
            return false;
        }
    }

    /// <summary>
    /// Messages that were read go to the client, which works on them from now on: a delivery of those counts.
    /// </summary>
    public void Begin(IReadOnlyList<DeliveredMessage> messages)
    {
        if (!IsRange)
            return;
        long first = messages[0].Offset;
        var count = (uint)(messages[^1].Offset + 1 - first);
        Source.Settle(new SettleRange(SettleKind.Begin, _range.DeliveryId, first, count), default);
    }

    /// <summary>The message that was read last cannot be handed out: its headers contradict themselves.</summary>
    public void Reject(in RecordView record) => _gap = new LogGap(record.Offset, record.Offset, GapReason.Corrupt);

    /// <returns>Whether there was one; then there may be records at hand, or a gap, or neither.</returns>
    private bool OpenNextBatch()
    {
        if (_nextBatch >= _runLength)
            return false;
        _isBatchSound =
            BatchView.TryRead(_run.AsSpan(_nextBatch, _runLength - _nextBatch), out BatchView batch)
            && batch.VerifyHeader();
        if (!_isBatchSound)
        {
            // Where the next batch begins is not known.
            _nextBatch = _runLength;
            _gap = new LogGap(_expected, _runEnd - 1, GapReason.Corrupt);
            return true;
        }
        _nextBatch += batch.Length;
        long first = IsRange ? _range.FirstOffset : Math.Max(batch.BaseOffset, _expected);
        long end = IsRange ? _range.FirstOffset + _range.Count : batch.NextOffset;
        _expected = end;
        BatchFate fate = _clock.FateOf(batch);
        if (fate == BatchFate.Skip || first >= end)
            return true;
        _isBatchSound = fate != BatchFate.Lost && batch.VerifyPayload();
        if (!_isBatchSound)
        {
            _gap = new LogGap(first, end - 1, GapReason.Corrupt);
            return true;
        }
        switch (fate)
        {
            case BatchFate.Later:
                PassOver(first, end);
                break;
            case BatchFate.Expired:
                Expire(first, end);
                break;
            default:
                OpenRecords(batch, first, end);
                break;
        }
        return true;
    }

    private void OpenRecords(in BatchView batch, long first, long end)
    {
        int start = _nextBatch - batch.Length;
        if (batch.Codec != BatchCodec.None)
            held?.Set(_runLength + Math.Clamp(batch.UncompressedLength, 0, ProtocolLimits.InflatedBatchBytes));
        if (batch.Codec == BatchCodec.None && (uint)batch.UncompressedLength <= (uint)batch.Payload.Length)
        {
            _batch = _run;
        }
        else if (batch.Codec != BatchCodec.None && _inflater.TryInflate(batch))
        {
            (_batch, start) = (_inflater.Memory, 0);
        }
        else
        {
            _isBatchSound = false;
            _gap = new LogGap(first, end - 1, GapReason.Corrupt);
            return;
        }
        _firstRecord = start + batch.HeaderLength;
        _recordsEnd = _firstRecord + batch.UncompressedLength;
        (_recordCount, _baseOffset, AppendTime) = (batch.RecordCount, batch.BaseOffset, batch.AppendTime);
        MessageId = batch.MessageId.IsEmpty ? "" : Encoding.UTF8.GetString(batch.MessageId);
        (_record, _offset) = (_firstRecord, _baseOffset);
        MoveTo(first, end);
    }

    /// <summary>Goes to another range of the current batch.</summary>
    private void BeginRange()
    {
        long first = _range.FirstOffset,
            end = first + _range.Count;
        if (!_isBatchSound)
        {
            _gap = new LogGap(first, end - 1, GapReason.Corrupt);
            return;
        }
        if (first < _offset)
            (_record, _offset) = (_firstRecord, _baseOffset);
        MoveTo(first, end);
    }

    /// <summary>Makes a range of the batch what is to be delivered.</summary>
    private void MoveTo(long first, long end)
    {
        _end = end;
        if (_offset == first)
            return;
        try
        {
            RecordEnumerator records = Records();
            while (_offset < first && records.MoveNext())
                StepOver(records.Current);
        }
        catch (ProtocolException)
        {
            _offset = first;
            Damage();
        }
    }

    private RecordEnumerator Records() =>
        new(_batch.AsSpan(_record, _recordsEnd - _record), (int)(_baseOffset + _recordCount - _offset), _offset);

    private void StepOver(in RecordView record)
    {
        _record += RecordWriter.SizeOf(record.Body.Length, record.Key.Length, record.HeaderBytes.Length);
        _offset++;
    }

    /// <summary>The rest of the batch cannot be read.</summary>
    private void Damage()
    {
        _gap = new LogGap(_offset, _end - 1, GapReason.Corrupt);
        _offset = _end;
        _isBatchSound = false;
    }

    private void Expire(long first, long end)
    {
        PassOver(first, end);
        _gap = new LogGap(first, end - 1, GapReason.Expired);
    }

    /// <summary>
    /// Messages that the consumer does not get to see are done; on subscriptions that settle by themselves this says
    /// nothing new.
    /// </summary>
    private void PassOver(long first, long end)
    {
        _source!.Settle(new SettleRange(SettleKind.Complete, _range.DeliveryId, first, (uint)(end - first)), default);
        _source.ForgetLastBatch(); // It was not opened, so what is left of it must come with it.
    }
}
