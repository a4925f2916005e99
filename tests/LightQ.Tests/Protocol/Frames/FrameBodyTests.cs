using LightQ.Client;
using LightQ.Protocol;
using LightQ.Protocol.Frames;
using Xunit;

namespace LightQ.Tests.Protocol.Frames;

public sealed class FrameBodyTests
{
    private const string Delivery = "e903000000000000 02000000 09000000 0100 0000 30750000";

    [Theory]
    [MemberData(nameof(FrameBodies.Names), MemberType = typeof(FrameBodies))]
    public void A_body_cut_off_anywhere_is_refused(string name)
    {
        FrameBodies.Case body = FrameBodies.ByName[name];
        body.Read(body.Bytes);
        for (int length = 0; length < body.Bytes.Length; length++)
        {
            byte[] cut = body.Bytes[..length];
            if (body.OptionalTails.Contains(body.Bytes.Length - length))
                body.Read(cut);
            else
                Refused(() => body.Read(cut));
        }
    }

    [Theory]
    [MemberData(nameof(FrameBodies.Names), MemberType = typeof(FrameBodies))]
    public void Bytes_behind_the_known_fields_are_ignored(string name)
    {
        FrameBodies.Case body = FrameBodies.ByName[name];
        body.Read([.. body.Bytes, 0xFF, 0xFF, 0xFF]);
    }

    [Fact]
    public void A_Subscribe_of_a_client_that_knows_no_members_is_one_by_itself()
    {
        byte[] body = FrameBodies.ByName["Subscribe"].Bytes;
        Assert.Equal(9u, FrameCodec.Read<SubscribeFrame>(body).Member);
        Assert.Equal(0u, FrameCodec.Read<SubscribeFrame>(body.AsSpan(..^16)).Member);
    }

    [Fact]
    public void A_ProducerOpened_of_an_earlier_broker_has_no_window_of_batches_and_an_unknown_delay()
    {
        byte[] body = FrameBodies.ByName["ProducerOpened"].Bytes;
        ProducerOpenedFrame whole = FrameCodec.Read<ProducerOpenedFrame>(body);
        Assert.Equal((1024u, 31_536_000_000_000ul), (whole.BatchWindow, whole.LongestDelay));
        ProducerOpenedFrame earlier = FrameCodec.Read<ProducerOpenedFrame>(body.AsSpan(..^8));
        Assert.Equal((1024u, ProducerOpenedFrame.UnknownDelay), (earlier.BatchWindow, earlier.LongestDelay));
        earlier = FrameCodec.Read<ProducerOpenedFrame>(body.AsSpan(..^12));
        Assert.Equal((0u, ProducerOpenedFrame.UnknownDelay), (earlier.BatchWindow, earlier.LongestDelay));
    }

    [Theory]
    [InlineData("1100 0500 6d6f766564", 0, "")]
    [InlineData("1100 0500 6d6f766564 07000000 0000", 7, "")]
    [InlineData("1100 0500 6d6f766564 07000000 0100 61 ff", 7, "a")] // A later version's field is behind it.
    [InlineData("1d00 0500 6d6f766564 07000000 0100 61", 0, "")] // Of another end these mean something else.
    public void A_Closed_names_the_leader_of_a_partition_or_not(string hex, uint epoch, string address)
    {
        ClosedFrame closed = FrameCodec.Read<ClosedFrame>(Hex.Bytes(hex));
        Assert.Equal(("moved", epoch, address), (closed.Message, closed.Epoch, closed.Address));
    }

    [Theory]
    [InlineData("1600 0500 74616b656e", 0)]
    [InlineData("1600 0500 74616b656e 0700000000000000", 7)]
    [InlineData("1600 0500 74616b656e 0700000000000000 ff", 7)] // A later version's field is behind it.
    [InlineData("1d00 0500 74616b656e 0700000000000000", 0)] // Of another end these mean something else.
    public void A_Closed_names_the_opening_that_has_a_name_or_not(string hex, ulong number)
    {
        ClosedFrame closed = FrameCodec.Read<ClosedFrame>(Hex.Bytes(hex));
        Assert.Equal(("taken", number), (closed.Message, closed.Number));
    }

    [Fact]
    public void A_Closed_that_ends_within_the_leaders_address_is_refused() =>
        Refused(() => FrameCodec.Read<ClosedFrame>(Hex.Bytes("1100 0500 6d6f766564 07000000 0100")));

    [Fact]
    public void A_Hello_without_the_magic_is_refused()
    {
        byte[] body = [.. FrameBodies.ByName["Hello"].Bytes];
        body[0] ^= 1;
        Refused(() => FrameCodec.Read<HelloFrame>(body));
    }

    [Fact]
    public void A_Hello_never_prints_its_credentials() =>
        Assert.DoesNotContain(
            "secret",
            new HelloFrame(1, 1, 0, "app", HelloFrame.Token, "secret").ToString(),
            StringComparison.Ordinal
        );

    [Theory]
    [InlineData("02 00 ff fe")]
    [InlineData("01 00 c3")]
    [InlineData("03 00 ed a0 80")]
    [InlineData("02 00 c0 80")]
    public void A_string_that_is_not_UTF_8_is_refused(string hex)
    {
        byte[] body = Hex.Bytes("0100" + hex);
        Refused(() => FrameCodec.Read<ErrorFrame>(body));
    }

    [Theory]
    [InlineData(0, true)]
    [InlineData(1, true)]
    [InlineData(65_535, true)]
    [InlineData(65_536, false)]
    public void A_string_has_at_most_65535_bytes(int length, bool fits)
    {
        var frame = new ErrorFrame(ErrorCode.Internal, new string('x', length));
        var bytes = new byte[FrameHeader.Size + frame.MaxSize];
        if (fits)
        {
            Assert.Equal(bytes.Length, FrameCodec.Write(bytes, frame));
            Assert.Equal(frame, FrameCodec.Read<ErrorFrame>(bytes.AsSpan(FrameHeader.Size)));
        }
        else
        {
            Assert.Throws<ArgumentException>(() => FrameCodec.Write(bytes, frame));
        }
    }

    [Fact]
    public void A_negative_count_of_bytes_is_refused() =>
        Refused(() => new BodyReader(new byte[10]).ReadBytes(-1).ToArray());

    [Theory]
    [InlineData("0a00000000000000 0900000000000000 01")]
    [InlineData("ffffffffffffffff 0900000000000000 01")]
    [InlineData("0000000000000080 0000000000000080 01")]
    [InlineData("0000000000000000 0900000000000000 00")]
    [InlineData("0000000000000000 0900000000000000 06")]
    public void A_Gap_that_is_no_range_or_has_no_reason_is_refused(string hex)
    {
        byte[] body = Hex.Bytes(hex);
        Refused(() => FrameCodec.Read<GapFrame>(body));
    }

    [Theory]
    [InlineData("0100 0000 00000000 e803000000000000 03000000 09000000 00000000 00 00 0000 0000")]
    [InlineData("0100 0000 00000000 e803000000000000 03000000 09000000 00000000 07 00 0000 0000")]
    [InlineData("0100 0000 00000000 e803000000000000 00000000 09000000 00000000 01 00 0000 0000")]
    [InlineData("0100 0000 00000000 ffffffffffffffff 03000000 09000000 00000000 01 00 0000 0000")]
    [InlineData("0100 0000 00000000 e803000000000000 03000000 09000000 00000000 01 00 0000 0100")]
    [InlineData("ffff 0000 00000000 e803000000000000 03000000 09000000 00000000 01 00 0000 0000")]
    public void A_Settle_entry_out_of_range_is_refused(string hex)
    {
        byte[] body = Hex.Bytes(hex);
        Refused(() => new SettleFrame(body));
    }

    [Theory]
    [InlineData("0100 0000 00000000 e803000000000000 03000000 09000000 0300 0000 00000000")]
    [InlineData("0100 0000 00000000 e803000000000000 00000000 09000000 0000 0000 00000000")]
    [InlineData("0100 0000 00000000 0000000000000080 03000000 09000000 0000 0000 00000000")]
    [InlineData("0200 0000 00000000 e803000000000000 03000000 09000000 0000 0000 00000000")]
    public void A_Settled_entry_out_of_range_is_refused(string hex)
    {
        byte[] body = Hex.Bytes(hex);
        Refused(() => new SettledFrame(body));
    }

    [Theory]
    [InlineData("ffffffffffffffff 02000000 09000000 0100 0000 30750000")]
    [InlineData("e903000000000000 00000000 09000000 0100 0000 30750000")]
    [InlineData("e903000000000000 02000000 00000000 0100 0000 30750000")]
    [InlineData("e903000000000000 02000000 09000000 0000 0000 30750000")]
    [InlineData("e703000000000000 02000000 09000000 0100 0000 30750000")]
    [InlineData("e903000000000000 04000000 09000000 0100 0000 30750000")]
    [InlineData("e903000000000000 ffffffff 09000000 0100 0000 30750000")]
    [InlineData("ffffffffffffff7f ffffffff 09000000 0100 0000 30750000")]
    public void A_GroupDeliver_whose_range_is_not_within_its_batch_is_refused(string delivery)
    {
        byte[] body = [.. Hex.Bytes(delivery), .. Sample.StampedBatch()];
        Refused(() => new GroupDeliverFrame(0, body));
    }

    [Fact]
    public void A_GroupDeliver_with_a_damaged_or_missing_batch_is_refused()
    {
        byte[] missing = Hex.Bytes(Delivery),
            cut = [.. missing, .. Sample.StampedBatch()[..^8]];
        Refused(() => new GroupDeliverFrame(0, missing));
        Refused(() => new GroupDeliverFrame(0, cut));
        Assert.Throws<InvalidOperationException>(() =>
            new GroupDeliverFrame(GroupDeliverFrame.SameBatch, missing).Batch.Bytes.ToArray()
        );
    }

    [Fact]
    public void A_list_of_65536_entries_cannot_be_written()
    {
        var bytes = new byte[PublishAckFrame.SizeOf(65_536)];
        Assert.Throws<OverflowException>(() =>
            PublishAckFrame.Write(bytes, 1, Durability.Memory, new AckRange[65_536])
        );
        Assert.Throws<OverflowException>(() => SettleFrame.Write(bytes, 1, 0, new SettleRange[65_536]));
        Assert.Throws<OverflowException>(() => SettledFrame.Write(bytes, 1, 0, new SettledRange[65_536]));
        Assert.Equal(
            PublishAckFrame.SizeOf(65_535),
            PublishAckFrame.Write(bytes, 1, Durability.Memory, new AckRange[65_535])
        );
        Assert.Equal(65_535, new PublishAckFrame(bytes.AsSpan(FrameHeader.Size)).Count);
    }

    [Fact]
    public void Ack_ranges_continue_only_what_they_touch()
    {
        var first = new AckRange(10, 5, ErrorCode.None, 100);
        Assert.True(first.IsContinuedBy(new AckRange(15, 1, ErrorCode.None, 105)));
        Assert.False(first.IsContinuedBy(new AckRange(15, 1, ErrorCode.None, 106)));
        Assert.False(first.IsContinuedBy(new AckRange(16, 1, ErrorCode.None, 105)));
        Assert.False(first.IsContinuedBy(new AckRange(15, 1, ErrorCode.None, 105, IsDuplicate: true)));
        Assert.False(first.IsContinuedBy(new AckRange(15, 1, ErrorCode.StreamBroken, -1)));
        Assert.False(
            new AckRange(10, 5, ErrorCode.NotSupported, -1).IsContinuedBy(
                new AckRange(15, 1, ErrorCode.NotSupported, -1, IsAlone: true)
            )
        );
        Assert.False(first.IsContinuedBy(new AckRange(15, uint.MaxValue, ErrorCode.None, 105)));
        Assert.True(
            new AckRange(10, 5, ErrorCode.StreamBroken, -1).IsContinuedBy(
                new AckRange(15, 1, ErrorCode.StreamBroken, -1)
            )
        );
    }

    [Theory]
    [InlineData("OpenProducer", 12, 5)]
    [InlineData("ProducerOpened", 65, 5)]
    [InlineData("PublishAck", 0, 5)]
    [InlineData("Subscribe", 15, 5)]
    [InlineData("Subscribe", 44, 2)]
    [InlineData("Subscribe", 45, 6)]
    [InlineData("Gap", 16, 6)]
    public void An_undefined_value_of_an_enum_is_refused(string name, int offset, byte value)
    {
        FrameBodies.Case body = FrameBodies.ByName[name];
        byte[] bytes = [.. body.Bytes];
        bytes[offset] = value;
        Refused(() => body.Read(bytes));
        bytes[offset] = 255;
        Refused(() => body.Read(bytes));
        bytes[offset] = (byte)(value - 1);
        body.Read(bytes);
    }

    [Fact]
    public void A_Subscribe_of_a_client_that_knows_no_slow_time_out_or_lock_duration_asks_for_the_default()
    {
        byte[] body = FrameBodies.ByName["Subscribe"].Bytes;
        SubscribeFrame whole = FrameCodec.Read<SubscribeFrame>(body);
        Assert.Equal((2_500u, 45_000u), (whole.SlowTimeoutMilliseconds, whole.LockMilliseconds));
        whole = whole with { AtATime = 0, LockMilliseconds = 0 };
        Assert.Equal(whole, FrameCodec.Read<SubscribeFrame>(body.AsSpan(..^8)));
        whole = whole with { SlowTimeoutMilliseconds = 0 };
        Assert.Equal(whole, FrameCodec.Read<SubscribeFrame>(body.AsSpan(..^12)));
    }

    [Fact]
    public void A_Subscribe_of_a_client_that_does_not_say_how_many_it_works_on_at_a_time_works_on_all()
    {
        byte[] body = FrameBodies.ByName["Subscribe"].Bytes;
        SubscribeFrame whole = FrameCodec.Read<SubscribeFrame>(body);
        Assert.Equal(16u, whole.AtATime);
        Assert.Equal(whole with { AtATime = 0 }, FrameCodec.Read<SubscribeFrame>(body.AsSpan(..^4)));
    }

    private static void Refused(Action read) =>
        Assert.Equal(ErrorCode.MalformedFrame, Assert.Throws<ProtocolException>(read).Code);

    private static void Refused<T>(Func<T> read) =>
        Refused(() =>
        {
            _ = read();
        });

    private static void Refused(Func<SettleFrame> read) =>
        Refused(() =>
        {
            _ = read();
        });

    private static void Refused(Func<SettledFrame> read) =>
        Refused(() =>
        {
            _ = read();
        });

    private static void Refused(Func<GroupDeliverFrame> read) =>
        Refused(() =>
        {
            _ = read();
        });
}
