using LightQ.Client.Administration;

namespace LightQ.Cli.Output;

/// <summary>
/// What consumers get of a stored message, in the words of the dashboard, where that is not the message at once and at
/// its offset.
/// </summary>
/// <remarks>
/// A delayed message is stored twice: when it is published, and, with another offset, when it is delivered.
/// </remarks>
internal static class DeliveryText
{
    /// <summary>The text about a message; null when it needs none.</summary>
    /// <param name="message">The message.</param>
    /// <param name="page">The messages that are shown: its delivery may be among them.</param>
    /// <param name="now">The present time.</param>
    public static string? Of(StoredMessage message, IEnumerable<StoredMessage> page, DateTimeOffset now) =>
        message switch
        {
            { State: StoredMessageState.Expired, ExpiresAt: { } end } => $"expired {StoredWriter.Time(end)}",
            { State: StoredMessageState.Expired } => "expired",
            { State: StoredMessageState.Delayed, DeliverAt: null } => "delayed, waiting until after 9999",
            { State: StoredMessageState.Delayed, DeliverAt: { } due } when due > now =>
                $"delayed, waiting until {StoredWriter.Time(due)}",
            { State: StoredMessageState.Delayed, DeliverAt: { } due } => DeliveryOf(message, page) is { } delivery
                ? $"delivered as offset {delivery.Offset}"
                : $"due since {StoredWriter.Time(due)}, delivered with a later offset",
            { DelayedOffset: { } delayed } => $"delivery of the delayed message at offset {delayed}",
            _ => null,
        };

    private static StoredMessage? DeliveryOf(StoredMessage message, IEnumerable<StoredMessage> page)
    {
        long published = message.DelayedOffset ?? message.Offset;
        return page.FirstOrDefault(m =>
            m.State != StoredMessageState.Delayed && m.DelayedOffset == published && m.Partition == message.Partition
        );
    }
}
