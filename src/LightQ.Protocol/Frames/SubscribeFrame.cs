namespace LightQ.Protocol.Frames;

/// <summary>
/// From the client: opens a subscription. The broker delivers nothing until the client grants credit.
/// </summary>
/// <param name="Topic">The topic's name.</param>
/// <param name="Partition">The partition, or <see cref="OpenProducerFrame.AnyPartition"/> for all.</param>
/// <param name="Group">The group to join; empty for a broadcast subscription.</param>
/// <param name="Start">Where to begin.</param>
/// <param name="StartValue">
/// The offset, or the time in unix microseconds, that <paramref name="Start"/> needs; else 0.
/// </param>
/// <param name="LastOffset">
/// The last offset that the client has read, or -1. A resuming client gets a gap over what was cut off or created anew
/// since.
/// </param>
/// <param name="LastEpoch">The epoch in which the client read it.</param>
/// <param name="LastIncarnation">The incarnation in which the client read it; 0 for none.</param>
/// <param name="SettleMode">Whether the broker or the client settles messages.</param>
/// <param name="SlowPolicy">What happens when the subscriber is slower than the topic.</param>
/// <param name="MaxInFlight">Most messages delivered and not settled; 0 for no limit.</param>
/// <param name="Member">
/// The consumer of this connection that the stream belongs to: the same number on the streams of all its partitions. 0
/// for a stream that is a consumer by itself.
/// </param>
/// <param name="SlowTimeoutMilliseconds">
/// How long the subscriber may take nothing while producers wait for it; 0 for the broker's default.
/// </param>
/// <param name="LockMilliseconds">
/// How long a delivered message is locked for this member; 0 for the topic's lock duration. Only in groups with
/// explicit settlement.
/// </param>
/// <param name="AtATime">
/// How many messages the member works on at once, and that it says which it begins; 0 where it does not say. Only in
/// groups with explicit settlement.
/// </param>
public readonly record struct SubscribeFrame(
    string Topic,
    uint Partition,
    string Group,
    StartKind Start,
    long StartValue,
    long LastOffset,
    uint LastEpoch,
    ulong LastIncarnation,
    SettleMode SettleMode,
    SlowPolicy SlowPolicy,
    uint MaxInFlight,
    uint Member = 0,
    uint SlowTimeoutMilliseconds = 0,
    uint LockMilliseconds = 0,
    uint AtATime = 0
) : IFrameBody<SubscribeFrame>
{
    /// <summary>
    /// <see cref="AtATime"/> of a member that works on all that it is sent. It never asks for more beside a message
    /// that it has alone.
    /// </summary>
    public const uint AllAtATime = uint.MaxValue;

    /// <inheritdoc/>
    public static FrameType Type => FrameType.Subscribe;

    /// <inheritdoc/>
    public int MaxSize =>
        BodyWriter.SizeOf(Topic) + 4 + BodyWriter.SizeOf(Group) + 1 + 8 + 8 + 4 + 8 + 1 + 1 + 4 + 4 + 4 + 4 + 4;

    /// <inheritdoc/>
    public void Write(ref BodyWriter writer)
    {
        writer.WriteString(Topic);
        writer.WriteUInt32(Partition);
        writer.WriteString(Group);
        writer.WriteByte((byte)Start);
        writer.WriteInt64(StartValue);
        writer.WriteInt64(LastOffset);
        writer.WriteUInt32(LastEpoch);
        writer.WriteUInt64(LastIncarnation);
        writer.WriteByte((byte)SettleMode);
        writer.WriteByte((byte)SlowPolicy);
        writer.WriteUInt32(MaxInFlight);
        writer.WriteUInt32(Member);
        writer.WriteUInt32(SlowTimeoutMilliseconds);
        writer.WriteUInt32(LockMilliseconds);
        writer.WriteUInt32(AtATime);
    }

    /// <inheritdoc/>
    public static SubscribeFrame Read(ref BodyReader reader) =>
        new(
            reader.ReadString(),
            reader.ReadUInt32(),
            reader.ReadString(),
            reader.ReadEnum<StartKind>(),
            reader.ReadInt64(),
            reader.ReadInt64(),
            reader.ReadUInt32(),
            reader.ReadUInt64(),
            reader.ReadEnum<SettleMode>(),
            reader.ReadEnum<SlowPolicy>(),
            reader.ReadUInt32(),
            reader.Remaining == 0 ? 0 : reader.ReadUInt32(),
            reader.Remaining == 0 ? 0 : reader.ReadUInt32(),
            reader.Remaining == 0 ? 0 : reader.ReadUInt32(),
            reader.Remaining == 0 ? 0 : reader.ReadUInt32()
        );
}
