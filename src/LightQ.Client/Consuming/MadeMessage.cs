using LightQ.Client.Batches;
using LightQ.Client.Connections;
using LightQ.Client.Telemetry;
using LightQ.Protocol;
using LightQ.Protocol.Batches;

namespace LightQ.Client.Consuming;

/// <summary>Messages that no broker has delivered.</summary>
internal static class MadeMessage
{
    /// <summary>A batch of one message, as a broker would have stamped it.</summary>
    public static byte[] Write(
        ReadOnlySpan<byte> body,
        in MessageKey key,
        MessageHeaders? headers,
        long offset,
        DateTimeOffset time,
        string? messageId,
        out int record
    )
    {
        if (messageId is not null && !BatchProperties.IsMessageId(messageId))
        {
            string limits = $"A message id has 1 to {ProtocolLimits.MaxMessageIdBytes} bytes in UTF-8.";
            throw new ArgumentException(limits, nameof(messageId));
        }
        var timing = new BatchProperties(0, 0, messageId);
        long microseconds = UnixMicroseconds.From(time);
        record = timing.HeaderLength;
        byte[] batch = new byte[BatchLayout.Align(record + SendBatch.RecordLength(body.Length, key, headers))];
        ReadOnlySpan<byte> encoded = headers is null ? default : headers.Encoded;
        int length = SendBatch.WriteRecord(batch.AsSpan(record), body, key, encoded);
        BatchWriter.Complete(batch, length, 1, length, BatchCodec.None, timing, default, microseconds);
        BatchWriter.Stamp(batch, new BatchStamp(offset, microseconds, 0, 0, 0));
        return batch;
    }

    /// <summary>A lock that does not expire.</summary>
    /// <param name="deliveryCount">How often the message was delivered.</param>
    /// <param name="settle">Answers in the broker's place; null for an answer that is always done.</param>
    public static DeliveryLock Lock(int deliveryCount, Func<MessageSettlement, SettleOutcome>? settle)
    {
        var place = new OperationPlace(new LightQClientOptions(), "", 0);
        var settlements = new Settlements(
            null,
            new PendingSettlements(0),
            "",
            isGroup: true,
            new ConsumeOperations(place)
        )
        {
            Answer = settle ?? (static _ => SettleOutcome.Done),
        };
        return new DeliveryLock(settlements, 1, (ushort)deliveryCount, DateTimeOffset.MaxValue.UtcTicks);
    }
}
