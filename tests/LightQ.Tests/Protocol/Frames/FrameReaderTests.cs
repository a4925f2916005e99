using System.Buffers;
using System.Buffers.Binary;
using LightQ.Client;
using LightQ.Protocol;
using LightQ.Protocol.Frames;
using Xunit;

namespace LightQ.Tests.Protocol.Frames;

public sealed class FrameReaderTests
{
    private static readonly SubscribeFrame Subscribe = new(
        "orders",
        0,
        "workers",
        StartKind.Offset,
        1000,
        999,
        3,
        5,
        SettleMode.Explicit,
        SlowPolicy.Block,
        64
    );

    [Fact]
    public void Two_frames_split_at_every_byte_are_read_whole()
    {
        byte[] bytes = TwoFrames();
        for (int cut = 0; cut <= bytes.Length; cut++)
            ReadsBoth(Segments.Of(bytes, cut));
    }

    [Fact]
    public void Two_frames_split_at_every_pair_of_bytes_are_read_whole()
    {
        byte[] bytes = TwoFrames();
        for (int first = 0; first <= bytes.Length; first++)
        {
            for (int second = first; second <= bytes.Length; second += 3)
                ReadsBoth(Segments.Of(bytes, first, second));
        }
    }

    [Fact]
    public void A_segment_per_byte_is_read_whole() =>
        ReadsBoth(Segments.Of(TwoFrames(), [.. Enumerable.Range(1, TwoFrames().Length - 1)]));

    [Fact]
    public void A_frame_that_has_not_all_arrived_is_not_taken()
    {
        byte[] bytes = Frame(new ErrorFrame(ErrorCode.Internal, "a message"));
        var reader = new FrameReader();
        for (int arrived = 0; arrived < bytes.Length; arrived++)
        {
            var buffer = new ReadOnlySequence<byte>(bytes, 0, arrived);
            Assert.False(reader.TryRead(ref buffer, out _, out ReadOnlySpan<byte> body));
            Assert.Equal(arrived, buffer.Length);
            Assert.True(body.IsEmpty);
            Assert.Equal(arrived >= FrameHeader.Size, reader.TryReadHeader(buffer, out FrameHeader header));
            Assert.Equal(arrived >= FrameHeader.Size ? bytes.Length : 0, header.Length);
        }
    }

    [Fact]
    public void A_frame_in_one_segment_is_handed_out_in_place()
    {
        byte[] bytes = Frame(new PingFrame(1));
        var buffer = new ReadOnlySequence<byte>(bytes);
        Assert.True(new FrameReader().TryRead(ref buffer, out _, out ReadOnlySpan<byte> body));
        Assert.True(body == bytes.AsSpan(FrameHeader.Size));
    }

    // 0, 1, the header's own size, the limit and its neighbours, and the two ends of what a signed and an unsigned
    // reader would take.
    [Theory]
    [InlineData(0u, ErrorCode.MalformedFrame)]
    [InlineData(1u, ErrorCode.MalformedFrame)]
    [InlineData(15u, ErrorCode.MalformedFrame)]
    [InlineData(16u, ErrorCode.None)]
    [InlineData(8192u, ErrorCode.None)]
    [InlineData(8193u, ErrorCode.FrameTooLarge)]
    [InlineData(0x7FFF_FFFFu, ErrorCode.FrameTooLarge)]
    [InlineData(0x8000_0000u, ErrorCode.FrameTooLarge)]
    [InlineData(0xFFFF_FFFFu, ErrorCode.FrameTooLarge)]
    public void A_frame_length_is_held_to_its_range_before_memory_is_taken(uint length, ErrorCode expected)
    {
        byte[] bytes = Frame(new PingFrame(1));
        BinaryPrimitives.WriteUInt32LittleEndian(bytes, length);
        var reader = new FrameReader();
        long before = GC.GetAllocatedBytesForCurrentThread();
        ErrorCode code = CodeOf(reader, Segments.Of(bytes, 5));
        long allocated = GC.GetAllocatedBytesForCurrentThread() - before;
        Assert.Equal(expected, code);
        Assert.True(allocated < 64 * 1024, $"{allocated} bytes were taken for a length field of {length}.");
    }

    [Theory]
    [InlineData(4, 0)]
    [InlineData(4, 22)]
    [InlineData(4, 255)]
    [InlineData(6, 1)]
    [InlineData(7, 128)]
    public void An_unknown_type_or_a_set_reserved_byte_is_refused(int offset, byte value)
    {
        byte[] bytes = Frame(new PingFrame(1));
        bytes[offset] = value;
        Assert.Equal(ErrorCode.MalformedFrame, CodeOf(new FrameReader(), new ReadOnlySequence<byte>(bytes)));
    }

    [Theory]
    [InlineData("GET / HTTP/1.1\r\nHost: broker\r\n\r\n")]
    [InlineData("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")]
    [InlineData("SSH-2.0-OpenSSH_9.2p1 Debian")]
    [InlineData("\u0016\u0003\u0001\u0002\0\u0001\0\u0001\u007c\u0003\u0003abcdefgh")]
    [InlineData("\0\0\0\u0020\0\u0012\0\u0003\0\0\0\u0001\0\u0007console")]
    [InlineData("INFO {\"server_id\":\"x\"}\r\n")]
    public void The_first_bytes_of_another_protocol_are_refused(string text)
    {
        byte[] bytes = System.Text.Encoding.Latin1.GetBytes(text);
        Assert.NotEqual(ErrorCode.None, CodeOf(new FrameReader(), new ReadOnlySequence<byte>(bytes)));
    }

    [Theory]
    [InlineData(int.MinValue)]
    [InlineData(0)]
    [InlineData(15)]
    public void A_frame_limit_below_the_header_cannot_be_set(int limit) =>
        Assert.Throws<ArgumentOutOfRangeException>(() => new FrameReader().MaxFrameBytes = limit);

    [Theory]
    [InlineData(int.MinValue)]
    [InlineData(-1)]
    [InlineData(0)]
    public void A_header_read_with_a_senseless_limit_is_too_long(int limit)
    {
        byte[] bytes = Frame(new PingFrame(1));
        ProtocolException error = Assert.Throws<ProtocolException>(() => FrameHeader.TryRead(bytes, limit, out _));
        Assert.Equal(ErrorCode.FrameTooLarge, error.Code);
    }

    [Fact]
    public void A_raised_limit_lets_larger_frames_through_to_the_byte()
    {
        var bytes = new byte[65_537];
        new FrameHeader(65_536, FrameType.Publish, 0, 1, 0).Write(bytes);
        var reader = new FrameReader { MaxFrameBytes = 65_536 };
        Assert.Equal(ErrorCode.None, CodeOf(reader, Segments.Of(bytes, 30_000)));
        new FrameHeader(65_537, FrameType.Publish, 0, 1, 0).Write(bytes);
        Assert.Equal(ErrorCode.FrameTooLarge, CodeOf(reader, Segments.Of(bytes, 30_000)));
    }

    private static void ReadsBoth(ReadOnlySequence<byte> buffer)
    {
        var reader = new FrameReader();
        Assert.True(reader.TryRead(ref buffer, out FrameHeader header, out ReadOnlySpan<byte> body));
        Assert.Equal(FrameType.Subscribe, header.Type);
        Assert.Equal((2u, 3u), (header.Stream, header.Tag));
        Assert.Equal(Subscribe, FrameCodec.Read<SubscribeFrame>(body));
        Assert.True(reader.TryRead(ref buffer, out header, out body));
        Assert.Equal(FrameType.Ping, header.Type);
        Assert.Equal(77ul, FrameCodec.Read<PingFrame>(body).Payload);
        Assert.True(buffer.IsEmpty);
        Assert.False(reader.TryRead(ref buffer, out _, out _));
    }

    private static byte[] TwoFrames()
    {
        var output = new ArrayBufferWriter<byte>();
        FrameCodec.Write(output, Subscribe, 2, 3);
        FrameCodec.Write(output, new PingFrame(77));
        return output.WrittenSpan.ToArray();
    }

    private static byte[] Frame<TBody>(TBody body)
        where TBody : IFrameBody<TBody>
    {
        var output = new ArrayBufferWriter<byte>();
        FrameCodec.Write(output, body);
        return output.WrittenSpan.ToArray();
    }

    private static ErrorCode CodeOf(FrameReader reader, ReadOnlySequence<byte> buffer)
    {
        try
        {
            reader.TryRead(ref buffer, out _, out _);
            return ErrorCode.None;
        }
        catch (ProtocolException error)
        {
            return error.Code;
        }
    }
}
