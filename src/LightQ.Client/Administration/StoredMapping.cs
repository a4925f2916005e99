using Google.Protobuf;
using Google.Protobuf.WellKnownTypes;
using LightQ.Protocol.Control;
using WireEdit = LightQ.Protocol.Control.MessageEdit;
using WirePosition = LightQ.Protocol.Control.MessagePosition;

namespace LightQ.Client.Administration;

/// <summary>Stored messages and edits between the client's types and the control plane's.</summary>
internal static class StoredMapping
{
    /// <summary>An edit as it is sent; null for none.</summary>
    public static WireEdit? ToProto(MessageEdit? edit)
    {
        if (edit is null)
            return null;
        var mapped = new WireEdit
        {
            RemoveKey = edit.RemoveKey,
            RemoveHeaders = { edit.RemoveHeaders },
            RemoveAllHeaders = edit.RemoveAllHeaders,
            MessageId = edit.MessageId ?? "",
        };
        if (edit.Key.HasValue)
            mapped.Key = BytesOf(edit.Key);
        if (edit.Body is { } body)
            mapped.Body = UnsafeByteOperations.UnsafeWrap(body);
        foreach ((string name, ReadOnlyMemory<byte> value) in edit.Headers ?? [])
            mapped.Headers.Add(new MessageHeader { Name = name, Value = UnsafeByteOperations.UnsafeWrap(value) });
        if (edit.Delay != TimeSpan.Zero)
            mapped.Delay = edit.Delay.ToDuration();
        if (edit.TimeToLive is { } life)
            mapped.TimeToLive = life.ToDuration();
        return mapped;
    }

    /// <summary>A key's bytes.</summary>
    public static ByteString BytesOf(MessageKey key)
    {
        byte[] bytes = new byte[key.ByteCount];
        key.CopyTo(bytes);
        return UnsafeByteOperations.UnsafeWrap(bytes);
    }

    /// <summary>Headers by name; one that only a number stands for is <c>#200</c>.</summary>
    public static IReadOnlyList<KeyValuePair<string, ReadOnlyMemory<byte>>> HeadersOf(
        IEnumerable<MessageHeader> headers
    ) =>
        [
            .. headers.Select(header => new KeyValuePair<string, ReadOnlyMemory<byte>>(
                header.Name.Length != 0 ? header.Name : $"#{header.Id}",
                header.Value.Memory
            )),
        ];

    /// <summary>A stored message.</summary>
    public static StoredMessage ToMessage(BrowsedMessage message) =>
        new(
            (int)message.Partition,
            message.Offset,
            message.Body.Memory,
            (long)message.BodySize,
            message.AppendTime.ToDateTimeOffset()
        )
        {
            Key = message.HasKey ? message.Key.Memory : (ReadOnlyMemory<byte>?)null,
            Headers = HeadersOf(message.Headers),
            Size = (long)message.Size,
            IsTombstone = message.Tombstone,
            PublishTime = message.PublishTime?.ToDateTimeOffset(),
            MessageId = message.MessageId.Length == 0 ? null : message.MessageId,
            State = (StoredMessageState)message.State,
            DeliverAt = message.DeliverTime?.ToDateTimeOffset(),
            ExpiresAt = message.ExpireTime?.ToDateTimeOffset(),
            DelayedOffset = message.HasDelayedOffset ? message.DelayedOffset : null,
        };

    /// <summary>Where a message was published.</summary>
    public static RepublishResult ToResult(string topic, WirePosition position, DurabilityLevel durability) =>
        new(topic, (int)position.Partition, position.Offset, position.Duplicate, (Durability)durability);
}
