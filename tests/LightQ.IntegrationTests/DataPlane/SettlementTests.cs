using LightQ.Client;
using LightQ.Protocol.Frames;
using Xunit;

namespace LightQ.IntegrationTests.DataPlane;

/// <summary>Receipts on the wire, right and wrong ones.</summary>
public sealed class SettlementTests
{
    private const uint Stream = 2;

    [Fact]
    public async Task A_receipt_is_answered_with_its_tag_and_one_without_a_tag_is_not()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using RawClient client = await DeliverAsync(server, messages: 3);

        await SettleAsync(client, 0, Complete(0, 1));
        await SettleAsync(client, 9, Complete(1, 1), Complete(2, 1));

        // Nothing stands before it: the first receipt was not answered.
        Assert.Equal([(SettleOutcome.Done, 1), (SettleOutcome.Done, 2)], await ReadSettledAsync(client, 9));
        Assert.Equal(3, server.Broker.GetTopic("t").Partitions[0].Counters.MessagesSettled);
    }

    [Fact]
    public async Task What_is_not_known_is_said_so_even_without_a_tag()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using RawClient client = await DeliverAsync(server, messages: 2);

        await SettleAsync(
            client,
            0,
            Complete(0, 1),
            Complete(0, 1),
            Complete(1, 5),
            Complete(long.MaxValue, uint.MaxValue),
            new SettleRange(SettleKind.Abandon, 0, 1, 1),
            Complete(1, 1, deliveryId: 77)
        );

        Assert.Equal(
            [
                (SettleOutcome.Done, 0),
                (SettleOutcome.Unknown, 0),
                (SettleOutcome.Unknown, 1),
                (SettleOutcome.Unknown, long.MaxValue),
                (SettleOutcome.Unknown, 1),
                (SettleOutcome.Unknown, 1),
            ],
            await ReadSettledAsync(client, 0)
        );
        Assert.Equal(1, server.Broker.GetTopic("t").Partitions[0].Counters.MessagesSettled);
    }

    [Fact]
    public async Task As_many_ranges_as_a_frame_can_have_are_answered_whole()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using RawClient client = await DeliverAsync(server, messages: 1);

        await SettleAsync(client, 5, [.. Enumerable.Range(0, ushort.MaxValue).Select(i => Complete(i, 1))]);

        (SettleOutcome Outcome, long First)[] settled = await ReadSettledAsync(client, 5);
        Assert.Equal(ushort.MaxValue, settled.Length);
        Assert.Equal((SettleOutcome.Done, 0), settled[0]);
        Assert.All(settled.Skip(1).Select((s, i) => (s, i)), s => Assert.Equal((SettleOutcome.Unknown, s.i + 1L), s.s));
    }

    [Theory]
    [InlineData(20, 0)] // The kind.
    [InlineData(20, 7)]
    [InlineData(7, 0x80)] // The offset's sign.
    [InlineData(8, 0)] // The count.
    public async Task An_entry_outside_its_range_ends_the_connection(int at, byte value)
    {
        await using TestServer server = await TestServer.StartAsync();
        await using RawClient client = await DeliverAsync(server, messages: 1);
        byte[] frame = new byte[SettleFrame.SizeOf(1)];
        SettleFrame.Write(frame, Stream, 1, [Complete(0, 1)]);
        frame[FrameHeader.Size + 8 + at] = value;

        await client.SendAsync(frame);

        (FrameHeader header, byte[] body) = await client.ReadAsync();
        Assert.Equal(FrameType.Error, header.Type);
        Assert.Equal(ErrorCode.MalformedFrame, FrameCodec.Read<ErrorFrame>(body).Code);
        Assert.Equal(0, server.Broker.GetTopic("t").Partitions[0].Counters.MessagesSettled);
    }

    [Fact]
    public async Task A_frame_for_a_stream_that_never_was_is_answered_once_and_settles_nothing()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using RawClient client = await DeliverAsync(server, messages: 1);
        foreach (uint stream in new uint[] { 0, 88, 77, 88, 77 })
        {
            byte[] frame = new byte[SettleFrame.SizeOf(1)];
            SettleFrame.Write(frame, stream, 3, [Complete(0, 1)]);
            await client.SendAsync(frame);
        }
        await client.SendAsync(new CreditFrame(100), stream: 66);
        await client.SendAsync(new PingFrame(5));

        foreach (uint stream in new uint[] { 88, 77, 66 })
        {
            (FrameHeader header, byte[] body) = await client.ReadAsync();
            Assert.Equal((FrameType.Closed, stream), (header.Type, header.Stream));
            Assert.Equal(ErrorCode.InvalidStream, FrameCodec.Read<ClosedFrame>(body).Code);
        }
        Assert.Equal(FrameType.Pong, (await client.ReadAsync()).Header.Type);
        Assert.Equal(0, server.Broker.GetTopic("t").Partitions[0].Counters.MessagesSettled);
    }

    [Theory]
    [InlineData("workers", SettleMode.Explicit, 0, ErrorCode.NotSupported)]
    [InlineData("", SettleMode.Explicit, 1, ErrorCode.InvalidArgument)]
    [InlineData("workers", SettleMode.Automatic, 1, ErrorCode.InvalidArgument)]
    public async Task A_transient_topic_has_no_groups_that_settle_and_nobody_else_a_limit_in_flight(
        string group,
        SettleMode settle,
        uint mostInFlight,
        ErrorCode expected
    )
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("t");
        await using RawClient client = await RawClient.ConnectAsync(server.DataPort);

        await client.SendAsync(
            new SubscribeFrame(
                "t",
                0,
                group,
                StartKind.Earliest,
                0,
                -1,
                0,
                0,
                settle,
                SlowPolicy.TopicDefault,
                mostInFlight
            ),
            Stream,
            4
        );

        (FrameHeader header, byte[] body) = await client.ReadAsync();
        Assert.Equal((FrameType.Closed, 4u), (header.Type, header.Tag));
        Assert.Equal(expected, FrameCodec.Read<ClosedFrame>(body).Code);
    }

    /// <summary>
    /// A client that was sent some messages on a subscription with explicit settlement; stream 1 is its producer.
    /// </summary>
    private static async Task<RawClient> DeliverAsync(TestServer server, int messages)
    {
        await server.CreateTopicAsync("t");
        RawClient client = await RawClient.ConnectAsync(server.DataPort);
        await client.OpenProducerAsync("t", 1);
        await client.SubscribeAsync("t", Stream, credit: 1 << 20, settle: SettleMode.Explicit);
        await client.SendAsync(RawClient.PublishFrame(1, RawClient.Batch(0, 100, messages)));
        var left = new HashSet<FrameType> { FrameType.Deliver, FrameType.PublishAck, FrameType.Credit };
        while (left.Count > 0)
            Assert.True(left.Remove((await client.ReadAsync()).Header.Type));
        return client;
    }

    private static SettleRange Complete(long first, uint count, uint deliveryId = 0) =>
        new(SettleKind.Complete, deliveryId, first, count);

    private static Task SettleAsync(RawClient client, uint tag, params SettleRange[] ranges)
    {
        byte[] frame = new byte[SettleFrame.SizeOf(ranges.Length)];
        SettleFrame.Write(frame, Stream, tag, ranges);
        return client.SendAsync(frame);
    }

    private static async Task<(SettleOutcome Outcome, long First)[]> ReadSettledAsync(RawClient client, uint tag)
    {
        (FrameHeader header, byte[] body) = await client.ReadAsync();
        Assert.Equal((FrameType.Settled, Stream, tag), (header.Type, header.Stream, header.Tag));
        var frame = new SettledFrame(body);
        var settled = new (SettleOutcome, long)[frame.Count];
        for (int i = 0; i < frame.Count; i++)
            settled[i] = (frame[i].Outcome, frame[i].FirstOffset);
        return settled;
    }
}
