namespace LightQ.Protocol.Frames;

/// <summary>From the server: the subscription is open.</summary>
/// <param name="TopicId">The topic's id.</param>
/// <param name="PartitionCount">How many partitions the topic has.</param>
/// <param name="Incarnation">The log's incarnation.</param>
/// <param name="Epoch">The log's leader epoch.</param>
/// <param name="NextOffset">The first offset that is delivered.</param>
/// <param name="StartOffset">The first offset that the log holds.</param>
/// <param name="EndOffset">The offset after the last that the log holds.</param>
/// <param name="Terms">
/// For a member of a group that settles: when its messages come again; null for others, and from an older broker.
/// </param>
public readonly record struct SubscribedFrame(
    Guid TopicId,
    uint PartitionCount,
    ulong Incarnation,
    uint Epoch,
    long NextOffset,
    long StartOffset,
    long EndOffset,
    RedeliveryTerms? Terms = null
) : IFrameBody<SubscribedFrame>
{
    /// <inheritdoc/>
    public static FrameType Type => FrameType.Subscribed;

    /// <inheritdoc/>
    public int MaxSize => 16 + 4 + 8 + 4 + 8 + 8 + 8 + (Terms is null ? 0 : 4 + 4 + 4);

    /// <inheritdoc/>
    public void Write(ref BodyWriter writer)
    {
        writer.WriteGuid(TopicId);
        writer.WriteUInt32(PartitionCount);
        writer.WriteUInt64(Incarnation);
        writer.WriteUInt32(Epoch);
        writer.WriteInt64(NextOffset);
        writer.WriteInt64(StartOffset);
        writer.WriteInt64(EndOffset);
        if (Terms is not { } terms)
            return;
        writer.WriteUInt32(terms.MaxDeliveries);
        writer.WriteUInt32(terms.FirstMilliseconds);
        writer.WriteUInt32(terms.MostMilliseconds);
    }

    /// <inheritdoc/>
    public static SubscribedFrame Read(ref BodyReader reader) =>
        new(
            reader.ReadGuid(),
            reader.ReadUInt32(),
            reader.ReadUInt64(),
            reader.ReadUInt32(),
            reader.ReadInt64(),
            reader.ReadInt64(),
            reader.ReadInt64(),
            reader.Remaining == 0
                ? null
                : new RedeliveryTerms(reader.ReadUInt32(), reader.ReadUInt32(), reader.ReadUInt32())
        );
}
