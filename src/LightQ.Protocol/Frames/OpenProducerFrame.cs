namespace LightQ.Protocol.Frames;

/// <summary>Client: opens a producer stream.</summary>
/// <param name="Topic">The topic's name.</param>
/// <param name="Partition">The partition, or <see cref="AnyPartition"/>.</param>
/// <param name="AckLevel">The durability that acks should wait for.</param>
/// <param name="ProducerName">Makes the producer idempotent across reconnects; empty for an anonymous one.</param>
public readonly record struct OpenProducerFrame(
    string Topic,
    uint Partition,
    Durability AckLevel,
    string ProducerName) : IFrameBody<OpenProducerFrame>
{
    /// <summary>Lets the broker choose the partition.</summary>
    public const uint AnyPartition = uint.MaxValue;

    /// <inheritdoc/>
    public static FrameType Type => FrameType.OpenProducer;

    /// <inheritdoc/>
    public int MaxSize => BodyWriter.SizeOf(Topic) + sizeof(uint) + 1 + BodyWriter.SizeOf(ProducerName);

    /// <inheritdoc/>
    public void Write(ref BodyWriter writer)
    {
        writer.WriteString(Topic);
        writer.WriteUInt32(Partition);
        writer.WriteByte((byte)AckLevel);
        writer.WriteString(ProducerName);
    }

    /// <inheritdoc/>
    public static OpenProducerFrame Read(ref BodyReader reader) => new(
        reader.ReadString(),
        reader.ReadUInt32(),
        reader.ReadEnum<Durability>(),
        reader.ReadString());
}
