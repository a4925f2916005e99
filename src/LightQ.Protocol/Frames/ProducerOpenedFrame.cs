namespace LightQ.Protocol.Frames;

/// <summary>From the server: the producer stream is open.</summary>
/// <param name="TopicId">The topic's id.</param>
/// <param name="Partition">The partition this stream appends to.</param>
/// <param name="PartitionCount">How many partitions the topic has.</param>
/// <param name="KeyHashVersion">How keys map to partitions: 1 is CRC-32C(key) mod count.</param>
/// <param name="Incarnation">
/// Changes when the topic's log is created anew: offsets of another incarnation mean nothing.
/// </param>
/// <param name="Epoch">The log's leader epoch.</param>
/// <param name="ProducerId">Goes into every batch header; 0 for an anonymous producer.</param>
/// <param name="ProducerEpoch">Goes into every batch header.</param>
/// <param name="NextSequence">
/// The sequence number that the broker expects next: one after the last that it stored.
/// </param>
/// <param name="WindowBytes">Publish window: bytes that may be sent and not yet appended.</param>
/// <param name="MaxBatchBytes">Largest batch of this topic, header included.</param>
/// <param name="AckLevel">The durability that acks wait for.</param>
/// <param name="BatchWindow">
/// Most batches that may be sent and not yet acknowledged; 0 for any number, and from a broker that does not send it.
/// </param>
/// <param name="LongestDelay">
/// How far in the future, in microseconds, a message's due time may lie: 0 on a topic that delivers nothing later, and
/// <see cref="UnknownDelay"/> from a broker that does not say.
/// </param>
public readonly record struct ProducerOpenedFrame(
    Guid TopicId,
    uint Partition,
    uint PartitionCount,
    byte KeyHashVersion,
    ulong Incarnation,
    uint Epoch,
    ulong ProducerId,
    uint ProducerEpoch,
    ulong NextSequence,
    uint WindowBytes,
    uint MaxBatchBytes,
    Durability AckLevel,
    uint BatchWindow = 0,
    ulong LongestDelay = ProducerOpenedFrame.UnknownDelay
) : IFrameBody<ProducerOpenedFrame>
{
    /// <summary>The broker does not say which delays the topic takes.</summary>
    public const ulong UnknownDelay = ulong.MaxValue;

    /// <summary>
    /// Largest message of this topic, in bytes of key, headers and body. A batch may be longer by
    /// <see cref="ProtocolLimits.BatchOverheadBytes"/>.
    /// </summary>
    public long MaxMessageBytes => Math.Max(0, (long)MaxBatchBytes - ProtocolLimits.BatchOverheadBytes);

    /// <inheritdoc/>
    public static FrameType Type => FrameType.ProducerOpened;

    /// <inheritdoc/>
    public int MaxSize => 16 + 4 + 4 + 1 + 8 + 4 + 8 + 4 + 8 + 4 + 4 + 1 + 4 + 8;

    /// <inheritdoc/>
    public void Write(ref BodyWriter writer)
    {
        writer.WriteGuid(TopicId);
        writer.WriteUInt32(Partition);
        writer.WriteUInt32(PartitionCount);
        writer.WriteByte(KeyHashVersion);
        writer.WriteUInt64(Incarnation);
        writer.WriteUInt32(Epoch);
        writer.WriteUInt64(ProducerId);
        writer.WriteUInt32(ProducerEpoch);
        writer.WriteUInt64(NextSequence);
        writer.WriteUInt32(WindowBytes);
        writer.WriteUInt32(MaxBatchBytes);
        writer.WriteByte((byte)AckLevel);
        writer.WriteUInt32(BatchWindow);
        writer.WriteUInt64(LongestDelay);
    }

    /// <inheritdoc/>
    public static ProducerOpenedFrame Read(ref BodyReader reader) =>
        new(
            reader.ReadGuid(),
            reader.ReadUInt32(),
            reader.ReadUInt32(),
            reader.ReadByte(),
            reader.ReadUInt64(),
            reader.ReadUInt32(),
            reader.ReadUInt64(),
            reader.ReadUInt32(),
            reader.ReadUInt64(),
            reader.ReadUInt32(),
            reader.ReadUInt32(),
            reader.ReadEnum<Durability>(),
            reader.Remaining == 0 ? 0 : reader.ReadUInt32(),
            reader.Remaining == 0 ? UnknownDelay : reader.ReadUInt64()
        );
}
