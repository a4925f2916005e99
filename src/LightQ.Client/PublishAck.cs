namespace LightQ.Client;

/// <summary>The broker's confirmation that messages are stored.</summary>
/// <param name="Offset">
/// Offset of the message, or of a batch's first message; the others follow without gaps. For a duplicate, the offset of
/// the stored message, or -1 when the broker no longer knows it.
/// </param>
/// <param name="Count">How many messages this ack confirms: 1, or a batch's count.</param>
/// <param name="Durability">How safe the messages are.</param>
/// <param name="Partition">The partition that holds the messages.</param>
public readonly record struct PublishAck(long Offset, int Count, Durability Durability, int Partition)
{
    /// <summary>
    /// Whether the message was not stored, because one with the same <see cref="PublishOptions.MessageId"/> is stored
    /// already: at the ack's offset, and as safe as the ack says.
    /// </summary>
    public bool IsDuplicate { get; init; }

    /// <summary>
    /// Where the message is, or a batch's first: of a message with a delay what cancels it
    /// (<see cref="Administration.MessagesClient.CancelScheduledAsync(string, MessagePosition, CancellationToken)"/>).
    /// </summary>
    public MessagePosition Position => new(Partition, Offset);

    /// <summary>
    /// Whether the message has a <see cref="PublishOptions.MessageId"/> that its topic does not look at, because it has
    /// no <see cref="TopicSpec.DedupWindow"/>: a message with the same id may be stored already. False from a broker
    /// that does not say so.
    /// </summary>
    public bool IsIdUnchecked { get; init; }
}
