namespace LightQ.Client;

/// <summary>The broker's word that messages are stored.</summary>
/// <param name="Offset">
/// Offset of the message, or of a batch's first message; the others follow densely. Of a duplicate that of the message
/// which is stored; -1 when nobody knows it any more.
/// </param>
/// <param name="Count">How many messages this answers: 1, or a batch's count.</param>
/// <param name="Durability">How safe they are.</param>
/// <param name="Partition">The partition that holds them.</param>
public readonly record struct PublishAck(long Offset, int Count, Durability Durability, int Partition)
{
    /// <summary>
    /// Whether the message was not stored, because one with the same <see cref="PublishOptions.MessageId"/> is: at the
    /// ack's offset, and as safe as it says.
    /// </summary>
    public bool IsDuplicate { get; init; }
}
