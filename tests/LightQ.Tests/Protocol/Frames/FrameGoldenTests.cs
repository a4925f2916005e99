using System.Buffers;
using LightQ.Client;
using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Frames;
using Xunit;

namespace LightQ.Tests.Protocol.Frames;

/// <summary>Every frame, byte by byte. The bytes were made from the specification by another program.</summary>
public sealed class FrameGoldenTests
{
    private static readonly Guid Id = new("00112233-4455-6677-8899-aabbccddeeff");

    [Fact]
    public void Hello_has_its_golden_bytes() =>
        Holds(
            new HelloFrame(1, 2, 0x1_0000_0003, "app é", HelloFrame.Plain, "u\0p"),
            stream: 0,
            tag: 1,
            """
            34000000 01000000 00000000 01000000 4c545131 01000200 03000000 01000000
            06006170 7020c3a9 0500706c 61696e03 00750070
            """
        );

    [Fact]
    public void Welcome_has_its_golden_bytes() =>
        Holds(
            new WelcomeFrame(1, 3, Id, 42, 4_194_304, 1_114_112, 1_048_576, 10_000),
            stream: 0,
            tag: 1,
            """
            3e000000 02000000 00000000 01000000 01000300 00000000 00003322 11005544
            77668899 aabbccdd eeff2a00 00000000 40000000 11000000 10001027 0000
            """
        );

    [Fact]
    public void Hello_and_Welcome_end_with_the_time_of_who_says_it()
    {
        Holds(
            new HelloFrame(1, 1, 0, "", HelloFrame.Anonymous, "", 0x0102_0304_0506_0708),
            stream: 0,
            tag: 0,
            """
            37000000 01000000 00000000 00000000 4c545131 01000100 00000000 00000000
            00000900 616e6f6e 796d6f75 73000008 07060504 030201
            """
        );
        Holds(
            new WelcomeFrame(1, 8, Id, 42, 4_194_304, 1_114_112, 1_048_576, 10_000, 0x0102_0304_0506_0708),
            stream: 0,
            tag: 1,
            """
            46000000 02000000 00000000 01000000 01000800 00000000 00003322 11005544
            77668899 aabbccdd eeff2a00 00000000 40000000 11000000 10001027 00000807
            06050403 0201
            """
        );
        Holds(
            new WelcomeFrame(1, 8, Id, 42, 4_194_304, 1_114_112, 1_048_576, 10_000, 0x0102_0304_0506_0708, 0x11),
            stream: 0,
            tag: 1,
            """
            4e000000 02000000 00000000 01000000 01000800 00000000 00003322 11005544
            77668899 aabbccdd eeff2a00 00000000 40000000 11000000 10001027 00000807
            06050403 02011100 00000000 0000
            """
        );
        Holds(
            new WelcomeFrame(1, 8, Id, 42, 4_194_304, 1_114_112, 1_048_576, 10_000, 0, 0x11),
            stream: 0,
            tag: 1,
            """
            4e000000 02000000 00000000 01000000 01000800 00000000 00003322 11005544
            77668899 aabbccdd eeff2a00 00000000 40000000 11000000 10001027 00000000
            00000000 00001100 00000000 0000
            """
        );
        Holds(
            new PingFrame(1, 2),
            stream: 0,
            tag: 0,
            """
            20000000 0f000000 00000000 00000000 01000000 00000000 02000000 00000000
            """
        );
    }

    [Fact]
    public void OpenProducer_has_its_golden_bytes() =>
        Holds(
            new OpenProducerFrame(
                "orders",
                OpenProducerFrame.AnyPartition,
                Durability.Fsync,
                "p-1",
                0x0102030405060708,
                true,
                0x1112131415161718
            ),
            stream: 1,
            tag: 2,
            """
            33000000 03000000 01000000 02000000 06006f72 64657273 ffffffff 03030070
            2d310807 06050403 02010118 17161514 131211
            """
        );

    [Fact]
    public void ProducerOpened_has_its_golden_bytes() =>
        Holds(
            new ProducerOpenedFrame(
                Id,
                0,
                1,
                1,
                5,
                3,
                7,
                2,
                100,
                1_048_576,
                1_114_112,
                Durability.Fsync,
                1024,
                31_536_000_000_000
            ),
            stream: 1,
            tag: 2,
            """
            5e000000 04000000 01000000 02000000 33221100 55447766 8899aabb ccddeeff
            00000000 01000000 01050000 00000000 00030000 00070000 00000000 00020000
            00640000 00000000 00000010 00000011 00030004 000000e0 138cae1c 0000
            """
        );

    [Fact]
    public void Subscribe_has_its_golden_bytes() =>
        Holds(
            new SubscribeFrame(
                "orders",
                0,
                "g",
                StartKind.Offset,
                1000,
                999,
                3,
                5,
                SettleMode.Explicit,
                SlowPolicy.SpillToDisk,
                64,
                9,
                2_500,
                45_000,
                16
            ),
            stream: 2,
            tag: 3,
            """
            52000000 07000000 02000000 03000000 06006f72 64657273 00000000 01006702
            e8030000 00000000 e7030000 00000000 03000000 05000000 00000000 01054000
            00000900 0000c409 0000c8af 00001000 0000
            """
        );

    [Fact]
    public void Subscribed_has_its_golden_bytes() =>
        Holds(
            new SubscribedFrame(Id, 1, 5, 3, 1000, 10, 1004),
            stream: 2,
            tag: 3,
            """
            48000000 08000000 02000000 03000000 33221100 55447766 8899aabb ccddeeff
            01000000 05000000 00000000 03000000 e8030000 00000000 0a000000 00000000
            ec030000 00000000
            """
        );

    [Fact]
    public void Subscribed_of_a_member_of_a_group_has_its_golden_bytes() =>
        Holds(
            new SubscribedFrame(Id, 1, 5, 3, 1000, 10, 1004, new RedeliveryTerms(10, 1000, 60_000)),
            stream: 2,
            tag: 3,
            """
            54000000 08000000 02000000 03000000 33221100 55447766 8899aabb ccddeeff
            01000000 05000000 00000000 03000000 e8030000 00000000 0a000000 00000000
            ec030000 00000000 0a000000 e8030000 60ea0000
            """
        );

    [Fact]
    public void Credit_has_its_golden_bytes() =>
        Holds(
            new CreditFrame(4_194_304),
            stream: 2,
            tag: 0,
            """
            14000000 0a000000 02000000 00000000 00004000
            """
        );

    [Fact]
    public void Window_has_its_golden_bytes() =>
        Holds(
            new WindowFrame(256, 16),
            stream: 2,
            tag: 0,
            """
            18000000 15000000 02000000 00000000 00010000 10000000
            """
        );

    [Fact]
    public void Gap_has_its_golden_bytes() =>
        Holds(
            new GapFrame(10, 19, GapReason.Retention),
            stream: 2,
            tag: 0,
            """
            21000000 0c000000 02000000 00000000 0a000000 00000000 13000000 00000000
            02
            """
        );

    [Fact]
    public void Close_has_its_golden_bytes() =>
        Holds(
            new CloseFrame(ErrorCode.None, ""),
            stream: 2,
            tag: 5,
            """
            14000000 0d000000 02000000 05000000 00000000
            """
        );

    [Fact]
    public void Closed_has_its_golden_bytes() =>
        Holds(
            new ClosedFrame(ErrorCode.UnknownTopic, "no topic"),
            stream: 2,
            tag: 5,
            """
            1c000000 0e000000 02000000 05000000 09000800 6e6f2074 6f706963
            """
        );

    [Fact]
    public void Closed_that_names_the_leader_has_its_golden_bytes() =>
        Holds(
            new ClosedFrame(ErrorCode.NotLeader, "moved", 0x0403_0201, "lq2:5700"),
            stream: 2,
            tag: 5,
            """
            27000000 0e000000 02000000 05000000 11000500 6d6f7665 64010203 0408006c 71323a35 373030
            """
        );

    [Fact]
    public void Closed_that_names_the_opening_which_has_a_name_has_its_golden_bytes() =>
        Holds(
            new ClosedFrame(ErrorCode.Fenced, "taken", Number: 0x0807_0605_0403_0201),
            stream: 2,
            tag: 5,
            """
            21000000 0e000000 02000000 05000000 16000500 74616b65 6e010203 04050607 08
            """
        );

    [Fact]
    public void Ping_has_its_golden_bytes() =>
        Holds(
            new PingFrame(0x0807_0605_0403_0201),
            stream: 0,
            tag: 0,
            """
            18000000 0f000000 00000000 00000000 01020304 05060708
            """
        );

    [Fact]
    public void Pong_has_its_golden_bytes() =>
        Holds(
            new PongFrame(0x0807_0605_0403_0201),
            stream: 0,
            tag: 0,
            """
            18000000 10000000 00000000 00000000 01020304 05060708
            """
        );

    [Fact]
    public void Error_has_its_golden_bytes() =>
        Holds(
            new ErrorFrame(ErrorCode.UnexpectedFrame, "late"),
            stream: 0,
            tag: 0,
            """
            18000000 11000000 00000000 00000000 05000400 6c617465
            """
        );

    [Fact]
    public void GoAway_has_its_golden_bytes() =>
        Holds(
            new GoAwayFrame(ErrorCode.ShuttingDown, 5000, "bye"),
            stream: 0,
            tag: 0,
            """
            1b000000 12000000 00000000 00000000 1d008813 00000300 627965
            """
        );

    [Fact]
    public void Publish_and_Deliver_carry_batches_as_they_are()
    {
        Hex.Equal(
            """
            b0000000 05000000 01000000 00000000 a0000000 566c2f83 3856a73a b7016000
            00000000 04000000 04000000 3d000000 00000000 00000000 00000000 00000000
            00401e18 240a0600 07000000 00000000 64000000 00000000 02000000 00000000
            00000000 00000000 00000000 00000000 05000000 ffff0000 68656c6c 6f060000
            0002000e 006b3101 61020078 79000304 00746578 74776f72 6c6421ff ffffff02
            0000006b 31000000 00000000 00000000
            """,
            WithRun(FrameType.Publish, 1, Sample.Batch())
        );
        Hex.Equal(
            """
            b0000000 09000000 02000000 00000000 a0000000 d94c8cb2 3856a73a b7016000
            00000000 04000000 04000000 3d000000 e8030000 00000000 05401e18 240a0600
            00401e18 240a0600 07000000 00000000 64000000 00000000 02000000 03000000
            0df0feca 0c000000 00000000 00000000 05000000 ffff0000 68656c6c 6f060000
            0002000e 006b3101 61020078 79000304 00746578 74776f72 6c6421ff ffffff02
            0000006b 31000000 00000000 00000000
            """,
            WithRun(FrameType.Deliver, 2, Sample.StampedBatch())
        );
    }

    [Fact]
    public void PublishAck_has_its_golden_bytes()
    {
        byte[] golden = Hex.Bytes(
            """
            48000000 06000000 01000000 00000000 03000200 00000000 64000000 00000000
            04000000 00000000 e8030000 00000000 68000000 00000000 01000000 13000000
            ffffffff ffffffff
            """
        );
        AckRange[] ranges = [new(100, 4, ErrorCode.None, 1000), new(104, 1, ErrorCode.StreamBroken, -1)];
        var written = new byte[PublishAckFrame.SizeOf(ranges.Length)];
        Assert.Equal(golden.Length, PublishAckFrame.Write(written, 1, Durability.Fsync, ranges));
        Assert.Equal(golden, written);
        var read = new PublishAckFrame(Body(golden, FrameType.PublishAck, 1, 0));
        Assert.Equal(Durability.Fsync, read.Durability);
        Assert.Equal((ranges[0], ranges[1]), (read[0], read[1]));
        Assert.Equal(2, read.Count);
    }

    [Fact]
    public void PublishAck_says_of_a_range_that_it_is_refused_alone()
    {
        byte[] golden = Hex.Bytes(
            "30000000 06000000 01000000 00000000 03000100 00000000 64000000 00000000 01000000 0c000200 ffffffff "
                + "ffffffff"
        );
        AckRange alone = new(100, 1, ErrorCode.NotSupported, -1, IsAlone: true);
        var written = new byte[PublishAckFrame.SizeOf(1)];
        Assert.Equal(golden.Length, PublishAckFrame.Write(written, 1, Durability.Fsync, [alone]));
        Assert.Equal(golden, written);
        Assert.Equal(alone, new PublishAckFrame(Body(golden, FrameType.PublishAck, 1, 0))[0]);
    }

    [Fact]
    public void PublishAck_says_of_a_duplicate_that_it_is_one_in_a_bit_that_was_reserved()
    {
        byte[] golden = Hex.Bytes(
            "30000000 06000000 01000000 00000000 03000100 00000000 64000000 00000000 01000000 00000100 11000000 "
                + "00000000"
        );
        AckRange duplicate = new(100, 1, ErrorCode.None, 17, IsDuplicate: true);
        var written = new byte[PublishAckFrame.SizeOf(1)];
        Assert.Equal(golden.Length, PublishAckFrame.Write(written, 1, Durability.Fsync, [duplicate]));
        Assert.Equal(golden, written);
        Assert.Equal(duplicate, new PublishAckFrame(Body(golden, FrameType.PublishAck, 1, 0))[0]);
        golden[38] = 0xF8; // Bits that mean nothing yet.
        Assert.Equal(
            duplicate with
            {
                IsDuplicate = false,
            },
            new PublishAckFrame(Body(golden, FrameType.PublishAck, 1, 0))[0]
        );
    }

    [Fact]
    public void PublishAck_says_of_ids_that_the_topic_does_not_look_at_them()
    {
        byte[] golden = Hex.Bytes(
            "30000000 06000000 01000000 00000000 03000100 00000000 64000000 00000000 01000000 00000400 11000000 "
                + "00000000"
        );
        AckRange stored = new(100, 1, ErrorCode.None, 17, IsUnchecked: true);
        var written = new byte[PublishAckFrame.SizeOf(1)];
        Assert.Equal(golden.Length, PublishAckFrame.Write(written, 1, Durability.Fsync, [stored]));
        Assert.Equal(golden, written);
        Assert.Equal(stored, new PublishAckFrame(Body(golden, FrameType.PublishAck, 1, 0))[0]);
        Assert.False(stored.IsContinuedBy(new AckRange(101, 1, ErrorCode.None, 18)));
    }

    [Fact]
    public void Settle_has_its_golden_bytes()
    {
        byte[] golden = Hex.Bytes(
            """
            4d000000 0b000000 02000000 04000000 02000000 00000000 e8030000 00000000
            03000000 09000000 00000000 01000000 eb030000 00000000 01000000 09000000
            00000000 03000000 03006261 64
            """
        );
        SettleRange[] ranges = [new(SettleKind.Complete, 9, 1000, 3), new(SettleKind.DeadLetter, 9, 1003, 1)];
        var written = new byte[SettleFrame.SizeOf(ranges.Length, 3)];
        Assert.Equal(golden.Length, SettleFrame.Write(written, 2, 4, ranges, "bad"u8));
        Assert.Equal(golden, written);
        var read = new SettleFrame(Body(golden, FrameType.Settle, 2, 4));
        Assert.Equal((ranges[0], ranges[1]), (read[0], read[1]));
        Assert.Equal(2, read.Count);
        Assert.Equal("bad"u8, read.ReasonUtf8);
    }

    [Fact]
    public void Settle_of_what_is_begun_and_what_goes_back_has_its_golden_bytes()
    {
        byte[] golden = Hex.Bytes(
            """
            4a000000 0b000000 02000000 04000000 02000000 00000000 e8030000 00000000
            03000000 09000000 00000000 06000000 eb030000 00000000 01000000 09000000
            00000000 05000000 0000
            """
        );
        SettleRange[] ranges = [new(SettleKind.Begin, 9, 1000, 3), new(SettleKind.Return, 9, 1003, 1)];
        var written = new byte[SettleFrame.SizeOf(ranges.Length)];
        Assert.Equal(golden.Length, SettleFrame.Write(written, 2, 4, ranges));
        Assert.Equal(golden, written);
        var read = new SettleFrame(Body(golden, FrameType.Settle, 2, 4));
        Assert.Equal((ranges[0], ranges[1]), (read[0], read[1]));
    }

    [Fact]
    public void GroupDeliver_of_doubted_messages_has_its_golden_bytes()
    {
        byte[] golden = Hex.Bytes(
            """
            28000000 13030000 02000000 00000000 eb030000 00000000 01000000 0a000000
            02000000 30750000
            """
        );
        var delivery = new GroupDelivery(1003, 1, 10, 2, 30_000, IsDoubted: true);
        var written = new byte[GroupDeliverFrame.HeadSize];
        Assert.Equal(GroupDeliverFrame.HeadSize, GroupDeliverFrame.WriteHead(written, 2, delivery, 0));
        Assert.Equal(golden, written);
        const byte Flags = GroupDeliverFrame.SameBatch | GroupDeliverFrame.Doubted;
        var read = new GroupDeliverFrame(Flags, Body(golden, FrameType.GroupDeliver, 2, 0, Flags));
        Assert.Equal(delivery, read.Delivery);
    }

    [Fact]
    public void Settled_has_its_golden_bytes()
    {
        byte[] golden = Hex.Bytes(
            """
            48000000 14000000 02000000 04000000 02000000 00000000 e8030000 00000000
            03000000 09000000 00000000 00000000 eb030000 00000000 01000000 09000000
            01000000 00000000
            """
        );
        SettledRange[] ranges = [new(SettleOutcome.Done, 9, 1000, 3), new(SettleOutcome.LockExpired, 9, 1003, 1)];
        var written = new byte[SettledFrame.SizeOf(ranges.Length)];
        Assert.Equal(golden.Length, SettledFrame.Write(written, 2, 4, ranges));
        Assert.Equal(golden, written);
        var read = new SettledFrame(Body(golden, FrameType.Settled, 2, 4));
        Assert.Equal((ranges[0], ranges[1]), (read[0], read[1]));
        Assert.Equal(2, read.Count);
    }

    [Fact]
    public void GroupDeliver_has_its_golden_bytes()
    {
        byte[] golden = Hex.Bytes(
            """
            c8000000 13000000 02000000 00000000 e9030000 00000000 02000000 09000000
            01000000 30750000 a0000000 d94c8cb2 3856a73a b7016000 00000000 04000000
            04000000 3d000000 e8030000 00000000 05401e18 240a0600 00401e18 240a0600
            07000000 00000000 64000000 00000000 02000000 03000000 0df0feca 0c000000
            00000000 00000000 05000000 ffff0000 68656c6c 6f060000 0002000e 006b3101
            61020078 79000304 00746578 74776f72 6c6421ff ffffff02 0000006b 31000000
            00000000 00000000
            """
        );
        var delivery = new GroupDelivery(1001, 2, 9, 1, 30_000);
        byte[] batch = Sample.StampedBatch();
        var written = new byte[GroupDeliverFrame.HeadSize + batch.Length];
        Assert.Equal(GroupDeliverFrame.HeadSize, GroupDeliverFrame.WriteHead(written, 2, delivery, batch.Length));
        batch.CopyTo(written, GroupDeliverFrame.HeadSize);
        Assert.Equal(golden, written);
        var read = new GroupDeliverFrame(0, Body(golden, FrameType.GroupDeliver, 2, 0));
        Assert.Equal(delivery, read.Delivery);
        Assert.True(read.HasBatch);
        Assert.Equal(batch, read.Batch.Bytes);
    }

    [Fact]
    public void GroupDeliver_of_the_same_batch_has_its_golden_bytes()
    {
        byte[] golden = Hex.Bytes(
            """
            28000000 13010000 02000000 00000000 eb030000 00000000 01000000 0a000000
            02000000 30750000
            """
        );
        var delivery = new GroupDelivery(1003, 1, 10, 2, 30_000);
        var written = new byte[GroupDeliverFrame.HeadSize];
        Assert.Equal(GroupDeliverFrame.HeadSize, GroupDeliverFrame.WriteHead(written, 2, delivery, 0));
        Assert.Equal(golden, written);
        var read = new GroupDeliverFrame(
            GroupDeliverFrame.SameBatch,
            Body(golden, FrameType.GroupDeliver, 2, 0, GroupDeliverFrame.SameBatch)
        );
        Assert.Equal(delivery, read.Delivery);
        Assert.False(read.HasBatch);
        Assert.True(read.IsWithin(new BatchView(Sample.StampedBatch())));
        Assert.False(
            new GroupDeliverFrame(
                GroupDeliverFrame.SameBatch,
                Body(golden, FrameType.GroupDeliver, 2, 0, GroupDeliverFrame.SameBatch)
            ).IsWithin(new BatchView(Sample.Batch()))
        );
    }

    private static void Holds<TBody>(TBody value, uint stream, uint tag, string golden)
        where TBody : struct, IFrameBody<TBody>, IEquatable<TBody>
    {
        var output = new ArrayBufferWriter<byte>();
        int length = FrameCodec.Write(output, value, stream, tag);
        Hex.Equal(golden, output.WrittenSpan);
        Assert.Equal(output.WrittenCount, length);
        Assert.InRange(length, FrameHeader.Size, FrameHeader.Size + value.MaxSize);
        Assert.Equal(value, FrameCodec.Read<TBody>(Body(Hex.Bytes(golden), TBody.Type, stream, tag)));
    }

    private static byte[] WithRun(FrameType type, uint stream, byte[] run)
    {
        var frame = new byte[FrameHeader.Size + run.Length];
        new FrameHeader(frame.Length, type, 0, stream, 0).Write(frame);
        run.CopyTo(frame, FrameHeader.Size);
        return frame;
    }

    private static ReadOnlySpan<byte> Body(byte[] frame, FrameType type, uint stream, uint tag, byte flags = 0)
    {
        Assert.True(FrameHeader.TryRead(frame, ProtocolLimits.HandshakeFrameBytes, out FrameHeader header));
        Assert.Equal(new FrameHeader(frame.Length, type, flags, stream, tag), header);
        return frame.AsSpan(FrameHeader.Size);
    }
}
