using System.Buffers.Binary;
using System.Text;
using LightQ.Client;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Frames;
using Xunit;

namespace LightQ.IntegrationTests.DataPlane;

public sealed class HostileClientTests
{
    public static TheoryData<string, byte[]> ForeignProtocols =>
        new()
        {
            { "HTTP", Encoding.ASCII.GetBytes("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n") },
            { "HTTP/2", Encoding.ASCII.GetBytes("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") },
            {
                "TLS",
                [0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
            },
            { "Kafka", [0, 0, 0, 0x14, 0, 0x12, 0, 3, 0, 0, 0, 1, 0, 4, 0x74, 0x65, 0x73, 0x74, 0, 0, 0, 0, 0, 0] },
        };

    [Theory]
    [MemberData(nameof(ForeignProtocols))]
    public async Task Bytes_of_another_protocol_get_an_error_and_the_end(string protocol, byte[] bytes)
    {
        await using TestServer server = await TestServer.StartAsync();
        await using RawClient client = await RawClient.ConnectAsync(server.DataPort, greet: false);
        await client.SendAsync(bytes);

        (FrameHeader header, byte[] body) = await client.ReadAsync();

        Assert.True(header.Type == FrameType.Error, protocol);
        Assert.NotEqual(ErrorCode.None, FrameCodec.Read<ErrorFrame>(body).Code);
        client.Socket.Shutdown(System.Net.Sockets.SocketShutdown.Send);
        Assert.Equal(default, (await client.ReadAsync()).Header);
    }

    [Theory]
    [InlineData(0u)]
    [InlineData(15u)]
    [InlineData(8u * 1024 + 1)]
    [InlineData(0x7FFFFFFFu)]
    [InlineData(0xFFFFFFFFu)]
    public async Task A_frame_length_outside_the_limits_is_refused_before_Hello(uint length)
    {
        await using TestServer server = await TestServer.StartAsync();
        await using RawClient client = await RawClient.ConnectAsync(server.DataPort, greet: false);
        byte[] frame = new byte[FrameHeader.Size];
        new FrameHeader(FrameHeader.Size, FrameType.Hello, 0, 0, 0).Write(frame);
        BinaryPrimitives.WriteUInt32LittleEndian(frame, length);
        await client.SendAsync(frame);

        ErrorCode code = FrameCodec.Read<ErrorFrame>((await client.ReadAsync()).Body).Code;

        Assert.Equal(length < FrameHeader.Size ? ErrorCode.MalformedFrame : ErrorCode.FrameTooLarge, code);
    }

    [Fact]
    public async Task A_frame_before_Hello_or_of_the_wrong_direction_is_refused()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using RawClient early = await RawClient.ConnectAsync(server.DataPort, greet: false);
        await early.SendAsync(new PingFrame(1));
        Assert.Equal(ErrorCode.UnexpectedFrame, FrameCodec.Read<ErrorFrame>((await early.ReadAsync()).Body).Code);

        await using RawClient wrong = await RawClient.ConnectAsync(server.DataPort);
        await wrong.SendAsync(new GapFrame(0, 1, GapReason.Dropped));
        Assert.Equal(ErrorCode.UnexpectedFrame, FrameCodec.Read<ErrorFrame>((await wrong.ReadAsync()).Body).Code);
    }

    [Fact]
    public async Task Welcome_says_the_limits_that_the_specification_names_and_a_topic_its_own()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("t");
        (RawClient client, FrameHeader header, byte[] body) = await RawClient.LogInAsync(
            server.DataPort,
            HelloFrame.Anonymous,
            ""
        );
        await using RawClient owned = client;
        Assert.Equal(FrameType.Welcome, header.Type);
        WelcomeFrame welcome = FrameCodec.Read<WelcomeFrame>(body);
        Assert.Equal(
            (4_194_304u, 4_194_288u, 4_128_752u, 10_000u),
            (welcome.MaxFrameBytes, welcome.MaxBatchBytes, welcome.MaxMessageBytes, welcome.HeartbeatMilliseconds)
        );
        ProducerOpenedFrame opened = await client.OpenProducerAsync("t", 1);
        Assert.Equal((1_114_112u, 1_048_576L), (opened.MaxBatchBytes, opened.MaxMessageBytes));
    }

    [Fact]
    public async Task An_unknown_topic_is_answered_with_the_requests_tag_and_the_connection_lives_on()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using RawClient client = await RawClient.ConnectAsync(server.DataPort);
        await client.SendAsync(new OpenProducerFrame("nowhere", 0, Durability.Default, ""), 7, 99);

        (FrameHeader header, byte[] body) = await client.ReadAsync();

        Assert.Equal((FrameType.Closed, 7u, 99u), (header.Type, header.Stream, header.Tag));
        Assert.Equal(ErrorCode.UnknownTopic, FrameCodec.Read<ClosedFrame>(body).Code);
        await client.SendAsync(new PingFrame(5));
        Assert.Equal(5ul, FrameCodec.Read<PongFrame>(await client.ReadAsync(FrameType.Pong)).Payload);
    }

    [Fact]
    public async Task A_hostile_batch_header_breaks_only_its_stream()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("t");
        await using RawClient client = await RawClient.ConnectAsync(server.DataPort);
        await client.OpenProducerAsync("t", 1);
        await client.OpenProducerAsync("t", 2);
        byte[] hostile = RawClient.Batch(0, 100);
        BinaryPrimitives.WriteUInt32LittleEndian(hostile.AsSpan(BatchLayout.RecordCount), uint.MaxValue);
        BinaryPrimitives.WriteUInt32LittleEndian(hostile.AsSpan(BatchLayout.OffsetSpan), uint.MaxValue);
        BinaryPrimitives.WriteUInt32LittleEndian(
            hostile.AsSpan(BatchLayout.HeaderCrc),
            BatchView.ComputeHeaderCrc(hostile.AsSpan(0, BatchLayout.HeaderSize))
        );
        await client.SendAsync(RawClient.PublishFrame(1, hostile));

        ClosedFrame closed = await ReadClosedAsync(client, 1);
        await client.SendAsync(RawClient.PublishFrame(2, RawClient.Batch(0, 100)));

        Assert.Equal(ErrorCode.MalformedBatch, closed.Code);
        Assert.Equal(new AckRange(0, 1, ErrorCode.None, 0), await ReadAckAsync(client));
    }

    [Fact]
    public async Task A_message_above_the_topics_limit_is_refused_by_name()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("t", maxMessageBytes: 1024);
        await using RawClient client = await RawClient.ConnectAsync(server.DataPort);
        await client.OpenProducerAsync("t", 1);
        await client.SendAsync(RawClient.PublishFrame(1, RawClient.Batch(0, 100_000)));
        Assert.Equal(ErrorCode.MessageTooLarge, (await ReadClosedAsync(client, 1)).Code);
    }

    [Fact]
    public async Task A_client_killed_in_the_middle_of_a_frame_leaves_nothing_behind()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("t");
        for (int i = 0; i < 20; i++)
        {
            RawClient client = await RawClient.ConnectAsync(server.DataPort);
            await client.OpenProducerAsync("t", 1);
            byte[] frame = RawClient.PublishFrame(1, RawClient.Batch(0, 10_000));
            await client.SendAsync(frame.AsMemory(0, frame.Length * i / 20));
            client.Reset();
        }
        await server.ConnectionsAsync(0);
        Assert.Equal(0, server.Broker.GetTopic("t").Partitions[0].Log.EndOffset);
        Assert.Empty(server.Broker.GetTopic("t").Partitions[0].Producers);
    }

    private static async Task<ClosedFrame> ReadClosedAsync(RawClient client, uint stream)
    {
        while (true)
        {
            (FrameHeader header, byte[] body) = await client.ReadAsync();
            Assert.NotEqual(default, header.Type);
            if (header.Type == FrameType.Closed && header.Stream == stream)
                return FrameCodec.Read<ClosedFrame>(body);
        }
    }

    private static async Task<AckRange> ReadAckAsync(RawClient client)
    {
        byte[] body = await client.ReadAsync(FrameType.PublishAck);
        return new PublishAckFrame(body)[0];
    }
}
