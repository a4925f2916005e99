using System.Globalization;
using Google.Protobuf;
using Google.Protobuf.WellKnownTypes;
using LightQ.Broker.DeadLetters;
using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Control;
using LightQ.Protocol.Records;
using LightQ.Server.Messages;
using DeadLetter = LightQ.Protocol.Control.DeadLetter;

namespace LightQ.Server.Control;

/// <summary>Dead letters as the control plane sends them. For one call; dispose it.</summary>
internal sealed class LetterMapping(ListLettersRequest request) : IDisposable
{
    private readonly BatchInflater _inflater = new(ProtocolLimits.InflatedBatchBytes);

    /// <summary>A letter as it is sent.</summary>
    public DeadLetter ToProto(in LetterView letter)
    {
        RecordView record = letter.Record;
        var mapped = new DeadLetter
        {
            Offset = record.Offset,
            Partition = letter.Origin.Partition,
            OriginalOffset = letter.Origin.Offset,
            Settled = letter.IsSettled,
            OriginalHeld = letter.HasOriginal,
        };
        MapHeaders(record, mapped);
        string form = LetterOrigin.ValueOf(record, DeadLetterHeader.Body);
        if (form == DeadLetterBatch.Omitted)
            mapped.Content = LetterContent.Omitted;
        else if (form == DeadLetterBatch.WholeBatch)
            MapBatch(record, letter.Origin.Offset, mapped);
        else
            Map(record, LetterContent.Whole, mapped);
        return mapped;
    }

    /// <inheritdoc/>
    public void Dispose() => _inflater.Return();

    /// <summary>The message's own headers stand in front of those that the broker has added.</summary>
    private static void MapHeaders(in RecordView record, DeadLetter mapped)
    {
        DeliveryMapping.AddHeaders(record, mapped.Headers);
        int own = mapped.Headers.Count;
        while (own > 0 && mapped.Headers[own - 1].Name != DeadLetterHeader.Reason)
            own--;
        while (own != 0 && mapped.Headers.Count >= own)
        {
            MessageHeader added = mapped.Headers[^1];
            mapped.Headers.RemoveAt(mapped.Headers.Count - 1);
            string value = added.Value.ToStringUtf8();
            switch (added.Name)
            {
                case DeadLetterHeader.Reason:
                    mapped.Reason = value;
                    break;
                case DeadLetterHeader.Deliveries
                    when uint.TryParse(value, NumberStyles.None, CultureInfo.InvariantCulture, out uint deliveries):
                    mapped.Deliveries = deliveries;
                    break;
                case DeadLetterHeader.Time
                    when DateTimeOffset.TryParse(
                        value,
                        CultureInfo.InvariantCulture,
                        DateTimeStyles.AssumeUniversal,
                        out DateTimeOffset time
                    ):
                    mapped.DeadLetterTime = time.ToTimestamp();
                    break;
                default:
                    break;
            }
        }
    }

    /// <summary>The broker inflates no batch when it makes letters; here the message is read out of one.</summary>
    private void MapBatch(in RecordView letter, long offset, DeadLetter mapped)
    {
        if (
            BatchView.TryRead(letter.Body, out BatchView batch)
            && batch.VerifyHeader()
            && batch.VerifyPayload()
            && (batch.Codec == BatchCodec.None || _inflater.TryInflate(batch))
        )
        {
            if (batch.Codec != BatchCodec.None)
                batch = new BatchView(_inflater.Memory.AsSpan(0, _inflater.Length));
            try
            {
                foreach (RecordView record in batch.Records)
                {
                    if (record.Offset != offset)
                        continue;
                    DeliveryMapping.AddHeaders(record, mapped.Headers);
                    Map(record, LetterContent.Whole, mapped);
                    return;
                }
            }
            catch (ProtocolException)
            {
                mapped.Headers.Clear(); // The batch is shown as it is.
            }
        }
        Map(letter, LetterContent.Unreadable, mapped);
    }

    private void Map(in RecordView record, LetterContent content, DeadLetter mapped)
    {
        if (record.HasKey)
            mapped.Key = ByteString.CopyFrom(record.Key);
        mapped.Body = ByteString.CopyFrom(
            BrowseRequests.PartOf(
                record.Body,
                request.BodyOffset,
                request.HasMaxBodyBytes ? request.MaxBodyBytes : null
            )
        );
        (mapped.BodySize, mapped.Tombstone, mapped.Content) = ((ulong)record.Body.Length, record.IsTombstone, content);
    }
}
