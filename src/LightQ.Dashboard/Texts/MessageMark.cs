using LightQ.Protocol.Control;

namespace LightQ.Dashboard.Texts;

/// <summary>What consumers get of a stored message, where that is not the message at once and at its offset.</summary>
/// <param name="Word">One word.</param>
/// <param name="Tone">The colour of the word.</param>
/// <param name="Text">What the word leaves open.</param>
/// <remarks>
/// A delayed message is stored twice: when it is published, and, with another offset, when it is delivered.
/// </remarks>
internal sealed record MessageMark(string Word, string Tone, string Text)
{
    /// <summary>The mark of a message; null when it needs none.</summary>
    /// <param name="message">The message.</param>
    /// <param name="page">The messages that are shown: its delivery may be among them.</param>
    public static MessageMark? Of(BrowsedMessage message, IEnumerable<BrowsedMessage> page) =>
        message.State switch
        {
            MessageState.Expired => new("expired", "warn", ""),
            MessageState.Delayed when message.DeliverTime?.ToDateTimeOffset() > DateTimeOffset.UtcNow => new(
                "delayed",
                "info",
                $"waiting until {Figure.Clock(message.DeliverTime)}"
            ),
            MessageState.Delayed => DeliveryOf(message, page) is { } delivery
                ? new("delivered", "good", $"as offset {delivery.Offset}")
                : new("due", "info", $"since {Figure.Clock(message.DeliverTime)}, delivered with a later offset"),
            _ when message.HasDelayedOffset => new(
                "delivery",
                "good",
                $"of the delayed message at offset {message.DelayedOffset}"
            ),
            _ => null,
        };

    private static BrowsedMessage? DeliveryOf(BrowsedMessage message, IEnumerable<BrowsedMessage> page)
    {
        long published = message.HasDelayedOffset ? message.DelayedOffset : message.Offset;
        return page.FirstOrDefault(m =>
            m.State != MessageState.Delayed
            && m.HasDelayedOffset
            && m.DelayedOffset == published
            && m.Partition == message.Partition
        );
    }
}
