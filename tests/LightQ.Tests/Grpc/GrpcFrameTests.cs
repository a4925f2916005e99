using System.Buffers;
using System.IO.Pipelines;
using LightQ.Grpc;
using LightQ.Grpc.Framing;
using Xunit;

namespace LightQ.Tests.Grpc;

public sealed class GrpcFrameTests
{
    private static readonly byte[] Golden = [0, 0, 0, 0, 4, 0x0A, 0x02, (byte)'h', (byte)'i'];

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public void A_message_is_written_as_flag_length_and_bytes()
    {
        EchoMessage message = new() { Text = "hi" };
        byte[] exact = new byte[Golden.Length];
        GrpcFrame.Write(message, GrpcFrame.Measure(message, 4), exact);
        Assert.Equal(Golden, exact);
    }

    [Fact]
    public void A_message_above_the_send_limit_is_refused()
    {
        GrpcException error = Assert.Throws<GrpcException>(() => GrpcFrame.Measure(new EchoMessage { Text = "hi" }, 3));
        Assert.Equal(GrpcStatusCode.ResourceExhausted, error.Status.Code);
    }

    [Fact]
    public async Task Frames_split_at_every_byte_are_read_whole()
    {
        byte[] two = [.. Golden, .. Golden];
        for (int split = 0; split <= two.Length; split++)
        {
            Pipe pipe = new();
            GrpcMessageReader reader = new(pipe.Reader, 100, null);
            await pipe.Writer.WriteAsync(two.AsMemory(0, split), Token);
            Task<List<string>> reading = ReadAllAsync(reader);
            await pipe.Writer.WriteAsync(two.AsMemory(split), Token);
            await pipe.Writer.CompleteAsync();
            Assert.Equal(["hi", "hi"], await reading);
        }
    }

    [Fact]
    public void Every_prefix_of_a_frame_asks_for_more_and_takes_nothing()
    {
        for (int length = 0; length < Golden.Length; length++)
        {
            ReadOnlySequence<byte> buffer = new(Golden, 0, length);
            Assert.False(GrpcFrame.TryRead(ref buffer, 100, out _, out _));
            Assert.Equal(length, buffer.Length);
        }
    }

    [Fact]
    public void A_length_above_the_limit_is_refused_as_soon_as_the_prefix_is_there()
    {
        Assert.Equal(GrpcStatusCode.ResourceExhausted, CodeOf([0, 0, 0, 0, 5], 4));
        Assert.Equal(GrpcStatusCode.ResourceExhausted, CodeOf([0, 0xFF, 0xFF, 0xFF, 0xFF], int.MaxValue));
    }

    [Fact]
    public void A_flag_that_is_neither_0_nor_1_is_an_error() => Assert.Equal(GrpcStatusCode.Internal, CodeOf([2, 0, 0, 0, 0], 4));

    [Theory]
    [InlineData(null, GrpcStatusCode.Internal)]
    [InlineData("identity", GrpcStatusCode.Internal)]
    [InlineData("gzip", GrpcStatusCode.Unimplemented)]
    public async Task A_compressed_message_is_an_error(string? encoding, GrpcStatusCode expected)
    {
        byte[] compressed = [1, .. Golden[1..]];
        Assert.Equal(expected, (await ReadErrorAsync(compressed, encoding)).Status.Code);
    }

    [Fact]
    public async Task A_stream_that_ends_inside_a_message_is_an_error()
    {
        for (int length = 1; length < Golden.Length; length++)
            Assert.Equal(GrpcStatusCode.Internal, (await ReadErrorAsync(Golden[..length], null)).Status.Code);
    }

    [Fact]
    public async Task Bytes_that_are_no_message_are_an_error()
    {
        GrpcException error = await ReadErrorAsync([0, 0, 0, 0, 1, 0xFF], null);
        Assert.Equal(GrpcStatusCode.Internal, error.Status.Code);
        Assert.Contains(nameof(EchoMessage), error.Status.Message, StringComparison.Ordinal);
    }

    /// <summary>Found by a fuzzer: the protobuf library fails with an index error.</summary>
    [Fact]
    public async Task A_message_in_a_message_that_says_it_has_2_GiB_is_an_error()
    {
        byte[] request = [0x0A, 0x18, 0x0A, 6, .. "orders"u8, 0x3A, 0, 0x4A, 0xFE, 0xFF, 0xFF, 0xFF, 7, 8, 1];
        GrpcMessageReader reader = new(PipeReader.Create(new ReadOnlySequence<byte>([0, 0, 0, 0, (byte)request.Length, .. request])), 100, null);
        GrpcException error = await Assert.ThrowsAsync<GrpcException>(async () => await reader.ReadAsync(LightQ.Protocol.Control.ConsumeRequest.Parser, Token));
        Assert.Equal(GrpcStatusCode.Internal, error.Status.Code);
    }

    private static GrpcStatusCode CodeOf(byte[] bytes, int limit) => Assert.Throws<GrpcException>(() =>
    {
        ReadOnlySequence<byte> buffer = new(bytes);
        GrpcFrame.TryRead(ref buffer, limit, out _, out _);
    }).Status.Code;

    private static async Task<GrpcException> ReadErrorAsync(byte[] bytes, string? encoding)
    {
        GrpcMessageReader reader = new(PipeReader.Create(new ReadOnlySequence<byte>(bytes)), 100, encoding);
        return await Assert.ThrowsAsync<GrpcException>(async () => await reader.ReadAsync(EchoMessage.Parser, Token));
    }

    private static async Task<List<string>> ReadAllAsync(GrpcMessageReader reader)
    {
        List<string> texts = [];
        while (await reader.ReadAsync(EchoMessage.Parser, Token) is { } message)
            texts.Add(message.Text);
        return texts;
    }
}
