namespace LightQ.Protocol.Frames;

/// <summary>From the client: opens a producer stream.</summary>
/// <param name="Topic">The topic's name.</param>
/// <param name="Partition">The partition, or <see cref="AnyPartition"/>.</param>
/// <param name="AckLevel">The durability that acks wait for.</param>
/// <param name="ProducerName">Makes the producer idempotent across reconnects; empty for an anonymous one.</param>
/// <param name="Instance">
/// A random number, the same for all streams of one producer object. It distinguishes the producer from another one
/// with the same name. 0 for a client that does not send it.
/// </param>
/// <param name="IsReturning">
/// Whether this instance has had the name before, on another connection or partition. The broker rejects it when
/// another instance has taken the name over.
/// </param>
/// <param name="Number">
/// Rises with every opening that the instance sends, and is higher than that of the instance before. An opening that
/// comes late, when one with a higher number has the name or the stream, changes nothing. 0 for a client that does not
/// send it.
/// </param>
public readonly record struct OpenProducerFrame(
    string Topic,
    uint Partition,
    Durability AckLevel,
    string ProducerName,
    ulong Instance = 0,
    bool IsReturning = false,
    ulong Number = 0
) : IFrameBody<OpenProducerFrame>
{
    /// <summary>Lets the broker choose the partition.</summary>
    public const uint AnyPartition = uint.MaxValue;

    /// <inheritdoc/>
    public static FrameType Type => FrameType.OpenProducer;

    /// <inheritdoc/>
    public int MaxSize =>
        BodyWriter.SizeOf(Topic)
        + sizeof(uint)
        + 1
        + BodyWriter.SizeOf(ProducerName)
        + sizeof(ulong)
        + 1
        + sizeof(ulong);

    /// <inheritdoc/>
    public void Write(ref BodyWriter writer)
    {
        writer.WriteString(Topic);
        writer.WriteUInt32(Partition);
        writer.WriteByte((byte)AckLevel);
        writer.WriteString(ProducerName);
        writer.WriteUInt64(Instance);
        writer.WriteByte(IsReturning ? (byte)1 : (byte)0);
        writer.WriteUInt64(Number);
    }

    /// <inheritdoc/>
    public static OpenProducerFrame Read(ref BodyReader reader) =>
        new(
            reader.ReadString(),
            reader.ReadUInt32(),
            reader.ReadEnum<Durability>(),
            reader.ReadString(),
            reader.Remaining == 0 ? 0 : reader.ReadUInt64(),
            reader.Remaining != 0 && reader.ReadByte() != 0,
            reader.Remaining == 0 ? 0 : reader.ReadUInt64()
        );
}
