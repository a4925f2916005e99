using System.Text;
using Google.Protobuf;
using Google.Protobuf.Collections;
using LightQ.Protocol;
using LightQ.Protocol.Control;
using LightQ.Protocol.Records;
using LightQ.Storage;
using GapReason = LightQ.Protocol.Control.GapReason;

namespace LightQ.Server.Messages;

/// <summary>The messages and gaps of a run as the control plane sends them.</summary>
internal static class DeliveryMapping
{
    /// <summary>A response is sent when it has so many bytes of messages.</summary>
    private const int ResponseBytes = 64 * 1024;

    /// <summary>The next messages, or a gap.</summary>
    /// <param name="run">Reads them.</param>
    /// <param name="credit">How many messages at most; gaps come in any case.</param>
    /// <returns>Null when the run is exhausted, or there is no credit for what is left.</returns>
    public static ConsumeResponse? Next(RunReader run, long credit)
    {
        while (true)
        {
            switch (run.Next())
            {
                case RunStep.Gap:
                    return ToProto(run.Source.Partition.Index, run.Gap);
                case RunStep.Records when credit > 0:
                    if (Read(run, credit) is { Messages.Count: > 0 } delivery)
                        return new ConsumeResponse { Delivery = delivery };
                    break;
                default:
                    return null;
            }
        }
    }

    /// <summary>A gap as it is sent.</summary>
    public static ConsumeResponse ToProto(uint partition, in LogGap gap) =>
        new()
        {
            Gap = new Gap
            {
                Partition = partition,
                FirstOffset = gap.FirstOffset,
                LastOffset = gap.LastOffset,
                Reason = (GapReason)gap.Reason,
            },
        };

    /// <summary>Adds the headers of a message as they are sent, in order.</summary>
    /// <exception cref="ProtocolException">They contradict themselves.</exception>
    public static void AddHeaders(in RecordView record, RepeatedField<MessageHeader> headers)
    {
        foreach (HeaderView header in record.Headers)
        {
            headers.Add(
                new MessageHeader
                {
                    Name = NameOf(header),
                    Id = header.WellKnownId,
                    Value = ByteString.CopyFrom(header.Value),
                }
            );
        }
    }

    private static Delivery Read(RunReader run, long credit)
    {
        var delivery = new Delivery();
        int bytes = 0;
        while (delivery.Messages.Count < credit && bytes < ResponseBytes && run.TryRead(out RecordView record))
        {
            if (TryMap(run, record) is { } message)
                delivery.Messages.Add(message);
            else
                run.Reject(record);
            bytes += RecordWriter.SizeOf(record.Body.Length, record.Key.Length, record.HeaderBytes.Length);
        }
        return delivery;
    }

    /// <returns>Null when its headers contradict themselves.</returns>
    private static DeliveredMessage? TryMap(RunReader run, in RecordView record)
    {
        try
        {
            return ToMessage(run, record);
        }
        catch (ProtocolException)
        {
            return null;
        }
    }

    private static DeliveredMessage ToMessage(RunReader run, in RecordView record)
    {
        var message = new DeliveredMessage
        {
            Partition = run.Source.Partition.Index,
            Offset = record.Offset,
            Body = ByteString.CopyFrom(record.Body),
            Tombstone = record.IsTombstone,
            AppendTime = MessageTimes.ToProto(run.AppendTime),
            MessageId = run.MessageId,
        };
        if (record.HasKey)
            message.Key = ByteString.CopyFrom(record.Key);
        AddHeaders(record, message.Headers);
        if (run.Range.Count != 0)
        {
            message.DeliveryId = run.Range.DeliveryId;
            message.DeliveryCount = run.Range.DeliveryCount;
            message.LockEndTime = MessageTimes.ToProto(run.LockEnd);
        }
        return message;
    }

    private static string NameOf(in HeaderView header) =>
        header.WellKnownId == 0
            ? Encoding.UTF8.GetString(header.Name)
            : WellKnownHeader.NameOf(header.WellKnownId) ?? "";
}
