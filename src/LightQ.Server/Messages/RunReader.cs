using System.Buffers;
using System.Text;
using Google.Protobuf;
using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Control;
using LightQ.Protocol.Frames;
using LightQ.Protocol.Records;
using Delivery = LightQ.Protocol.Control.Delivery;
using GapReason = LightQ.Client.GapReason;
using SettleKind = LightQ.Client.SettleKind;
using Subscription = LightQ.Broker.Subscriptions.Subscription;

namespace LightQ.Server.Messages;

/// <summary>Reads the messages of one run after the other for a Consume call, as many at a time as there is credit for. Not thread-safe.</summary>
/// <remarks>
/// Keeps a copy of one run, and of one batch inflated: all that a call holds of its topic, however many partitions it reads and however slow it is.
/// A batch whose messages are delivered bit by bit stays until another run comes.
/// </remarks>
internal sealed class RunReader(TimeProvider time)
{
    /// <summary>A response is sent when it has so many bytes of messages.</summary>
    private const int ResponseBytes = 64 * 1024;

    private readonly BatchInflater _inflater = new(ProtocolLimits.InflatedBatchBytes);
    private Subscription? _source;
    private GroupDelivery _range;
    private long _lockEnd;
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
    private long _appendTime;
    private string _messageId = "";
    private bool _isBatchSound;
    private int _record;
    private long _offset;
    private long _end;
    private (long First, long Last, GapReason Reason)? _gap;

    /// <summary>Whether there is nothing left of the run; known once <see cref="Next"/> has said null.</summary>
    public bool IsExhausted => _gap is null && _offset >= _end && _nextBatch >= _runLength;

    private bool IsRange => _range.Count != 0;

    /// <summary>Takes a copy of a run; the one before is gone.</summary>
    /// <param name="source">Whose it is.</param>
    /// <param name="delivery">The run.</param>
    public void Load(Subscription source, in Broker.Subscriptions.Delivery delivery)
    {
        if (_source != source)
            _source?.ForgetLastBatch();
        _range = delivery.Range;
        _runEnd = delivery.Run.End.Offset;
        _lockEnd = Now + (_range.LockMilliseconds * 1000L);
        if (delivery.Run.Memory.IsEmpty)
        {
            BeginRange(); // Of the batch that is here.
            return;
        }
        Unload();
        _source = source;
        _runLength = delivery.Run.Memory.Length;
        _run = ArrayPool<byte>.Shared.Rent(_runLength);
        delivery.Run.Memory.CopyTo(_run);
        // A group may hand back what is older than its position was.
        _expected = source.GroupName.Length != 0 ? delivery.Run.Start.Offset : Math.Max(delivery.Run.Start.Offset, source.FirstOffset);
    }

    /// <summary>Lets go of the run.</summary>
    public void Unload()
    {
        if (_run.Length != 0)
            ArrayPool<byte>.Shared.Return(_run);
        _inflater.Return();
        (_source, _run, _batch, _runLength, _nextBatch, _offset, _end, _gap) = (null, [], [], 0, 0, 0, 0, null);
        (_record, _recordsEnd, _firstRecord) = (0, 0, 0);
    }

    /// <summary>The next messages, or a gap.</summary>
    /// <param name="credit">How many messages at most; gaps come in any case.</param>
    /// <returns>Null when the run is exhausted, or there is no credit for what is left.</returns>
    public ConsumeResponse? Next(long credit)
    {
        while (true)
        {
            if (_gap is { } gap)
            {
                _gap = null;
                return ToProto(_source!.Partition.Index, gap.First, gap.Last, gap.Reason);
            }
            if (_offset < _end)
            {
                if (credit <= 0)
                    return null;
                if (Fill(credit) is { } delivery)
                    return new ConsumeResponse { Delivery = delivery };
            }
            else if (!OpenNextBatch())
            {
                return null;
            }
        }
    }

    /// <summary>A gap as it is sent.</summary>
    public static ConsumeResponse ToProto(uint partition, long first, long last, GapReason reason) =>
        new() { Gap = new Gap { Partition = partition, FirstOffset = first, LastOffset = last, Reason = (Protocol.Control.GapReason)reason } };

    private long Now => UnixMicroseconds.From(time.GetUtcNow());

    /// <returns>Whether there was one; then there may be records at hand, or a gap, or neither.</returns>
    private bool OpenNextBatch()
    {
        if (_nextBatch >= _runLength)
            return false;
        _isBatchSound = BatchView.TryRead(_run.AsSpan(_nextBatch, _runLength - _nextBatch), out BatchView batch) && batch.VerifyHeader();
        if (!_isBatchSound)
        {
            // Where the next batch begins is not known.
            _nextBatch = _runLength;
            _gap = (_expected, _runEnd - 1, GapReason.Corrupt);
            return true;
        }
        _nextBatch += batch.Length;
        long first = IsRange ? _range.FirstOffset : Math.Max(batch.BaseOffset, _expected);
        long end = IsRange ? _range.FirstOffset + _range.Count : batch.NextOffset;
        _expected = end;
        if (batch.Kind == BatchKind.Control || first >= end)
            return true;
        _isBatchSound = batch.Kind == BatchKind.Data && batch.VerifyPayload();
        if (!_isBatchSound)
            _gap = (first, end - 1, GapReason.Corrupt);
        else if (batch.DueAt != 0)
            PassOver(first, end); // It comes again when it is due.
        else if (batch.ExpiresAt <= Now)
            Expire(first, end);
        else
            OpenRecords(batch, first, end);
        return true;
    }

    private void OpenRecords(in BatchView batch, long first, long end)
    {
        int start = _nextBatch - batch.Length;
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
            _gap = (first, end - 1, GapReason.Corrupt);
            return;
        }
        _firstRecord = start + batch.HeaderLength;
        _recordsEnd = _firstRecord + batch.UncompressedLength;
        (_recordCount, _baseOffset, _appendTime) = (batch.RecordCount, batch.BaseOffset, batch.AppendTime);
        _messageId = batch.MessageId.IsEmpty ? "" : Encoding.UTF8.GetString(batch.MessageId);
        (_record, _offset) = (_firstRecord, _baseOffset);
        MoveTo(first, end);
    }

    /// <summary>Goes to another range of the batch at hand.</summary>
    private void BeginRange()
    {
        long first = _range.FirstOffset, end = first + _range.Count;
        if (!_isBatchSound)
        {
            _gap = (first, end - 1, GapReason.Corrupt);
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

    /// <returns>Null when the first message cannot be read; then there is a gap.</returns>
    private Delivery? Fill(long credit)
    {
        var delivery = new Delivery();
        int first = _record;
        try
        {
            RecordEnumerator records = Records();
            while (delivery.Messages.Count < credit && _offset < _end && _record - first < ResponseBytes && records.MoveNext())
            {
                if (TryRead(records.Current) is { } message)
                    delivery.Messages.Add(message);
                else if (delivery.Messages.Count == 0)
                    _gap = (_offset, _offset, GapReason.Corrupt);
                else
                    break; // Its turn comes next.
                StepOver(records.Current);
                if (_gap is not null)
                    break;
            }
        }
        catch (ProtocolException)
        {
            Damage();
        }
        return delivery.Messages.Count != 0 ? delivery : null;
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
        _gap = (_offset, _end - 1, GapReason.Corrupt);
        _offset = _end;
        _isBatchSound = false;
    }

    private void Expire(long first, long end)
    {
        PassOver(first, end);
        _gap = (first, end - 1, GapReason.Expired);
    }

    /// <summary>Messages that the consumer does not get to see are done; on subscriptions that settle by themselves this says nothing new.</summary>
    private void PassOver(long first, long end)
    {
        _source!.Settle(new SettleRange(SettleKind.Complete, _range.DeliveryId, first, (uint)(end - first)), default);
        _source.ForgetLastBatch(); // It was not opened, so what is left of it must come with it.
    }

    /// <returns>Null when its headers contradict themselves; where the next record begins is known all the same.</returns>
    private DeliveredMessage? TryRead(in RecordView record)
    {
        try
        {
            return ToMessage(record);
        }
        catch (ProtocolException)
        {
            return null;
        }
    }

    private DeliveredMessage ToMessage(in RecordView record)
    {
        var message = new DeliveredMessage
        {
            Partition = _source!.Partition.Index,
            Offset = record.Offset,
            Body = ByteString.CopyFrom(record.Body),
            Tombstone = record.IsTombstone,
            AppendTime = MessageTimes.ToProto(_appendTime),
            MessageId = _messageId,
        };
        if (record.HasKey)
            message.Key = ByteString.CopyFrom(record.Key);
        foreach (HeaderView header in record.Headers)
        {
            message.Headers.Add(new MessageHeader
            {
                Name = header.WellKnownId == 0 ? Encoding.UTF8.GetString(header.Name) : WellKnownHeader.NameOf(header.WellKnownId) ?? "",
                Id = header.WellKnownId,
                Value = ByteString.CopyFrom(header.Value),
            });
        }
        if (IsRange)
        {
            message.DeliveryId = _range.DeliveryId;
            message.DeliveryCount = _range.DeliveryCount;
            message.LockEndTime = MessageTimes.ToProto(_lockEnd);
        }
        return message;
    }
}
