using System.Text;
using Google.Protobuf;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Control;

namespace LightQ.Server.Messages;

/// <summary>Stored messages as the control plane shows them.</summary>
internal static class BrowseMapping
{
    /// <summary>A message.</summary>
    /// <param name="record">Its record.</param>
    /// <param name="batch">The batch that holds it.</param>
    /// <param name="fate">What consumers get of the batch.</param>
    /// <param name="partition">The partition.</param>
    /// <param name="body">What is shown of its body.</param>
    /// <exception cref="Protocol.ProtocolException">Its headers contradict themselves.</exception>
    public static BrowsedMessage ToMessage(
        in RecordView record,
        in BatchView batch,
        BatchFate fate,
        uint partition,
        ReadOnlySpan<byte> body
    )
    {
        var message = new BrowsedMessage
        {
            Partition = partition,
            Offset = record.Offset,
            Body = ByteString.CopyFrom(body),
            BodySize = (ulong)record.Body.Length,
            Size = (ulong)(record.Key.Length + record.HeaderBytes.Length + record.Body.Length),
            Tombstone = record.IsTombstone,
            AppendTime = MessageTimes.ToProto(batch.AppendTime),
            PublishTime = MessageTimes.ToProtoOrNull(batch.Timestamp),
            MessageId = batch.MessageId.IsEmpty ? "" : Encoding.UTF8.GetString(batch.MessageId),
            State = fate switch
            {
                BatchFate.Later => MessageState.Delayed,
                BatchFate.Expired => MessageState.Expired,
                _ => MessageState.Delivered,
            },
        };
        if (record.HasKey)
            message.Key = ByteString.CopyFrom(record.Key);
        DeliveryMapping.AddHeaders(record, message.Headers);
        if (batch.DueAt != 0)
            message.DeliverTime = MessageTimes.ToProtoOrNull(batch.DueAt);
        if (batch.ExpiresAt != long.MaxValue)
            message.ExpireTime = MessageTimes.ToProtoOrNull(batch.ExpiresAt);
        if (batch.OriginOffset >= 0)
            message.DelayedOffset = batch.OriginOffset;
        return message;
    }
}
