using LightQ.Client;
using LightQ.Protocol.Frames;
using Xunit;

namespace LightQ.Tests.Protocol.Frames;

/// <summary>One valid body of every frame, and how it is read: for tests that damage them.</summary>
internal static class FrameBodies
{
    public static readonly IReadOnlyDictionary<string, Case> ByName = All().ToDictionary(body => body.Name);

    public static TheoryData<string> Names => [.. ByName.Keys];

    private static IEnumerable<Case> All()
    {
        var id = Guid.Parse("00112233-4455-6677-8899-aabbccddeeff");
        yield return Of("Hello", new HelloFrame(1, 1, 0, "app", HelloFrame.Plain, "u\0p", 1_700_000_000_000_000), 8);
        yield return Of(
            "Welcome",
            new WelcomeFrame(
                1,
                0,
                id,
                42,
                4_194_304,
                1_114_112,
                1_048_576,
                10_000,
                1_700_000_000_000_000,
                1_800_000_000_000_000
            ),
            8,
            16
        );
        yield return Of(
            "OpenProducer",
            new OpenProducerFrame("orders", 0, Durability.Fsync, "p-1", 0x0102030405060708, true, 7),
            8,
            9,
            17
        );
        yield return Of(
            "ProducerOpened",
            new ProducerOpenedFrame(
                id,
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
            8,
            12
        );
        yield return Of(
            "Subscribe",
            new SubscribeFrame(
                "orders",
                0,
                "g",
                StartKind.Committed,
                0,
                -1,
                3,
                5,
                SettleMode.Explicit,
                SlowPolicy.DropOldest,
                64,
                9,
                2_500,
                45_000,
                16
            ),
            4,
            8,
            12,
            16
        );
        yield return Of(
            "Subscribed",
            new SubscribedFrame(id, 1, 5, 3, 1000, 10, 1004, new RedeliveryTerms(10, 1000, 60_000)),
            12
        );
        yield return Of("Credit", new CreditFrame(4_194_304));
        yield return Of("Window", new WindowFrame(256, 16));
        yield return Of("Gap", new GapFrame(10, 19, GapReason.Corrupt));
        yield return Of("Close", new CloseFrame(ErrorCode.None, "done"));
        yield return Of("Closed", new ClosedFrame(ErrorCode.UnknownTopic, "no topic"));
        yield return Of("Ping", new PingFrame(1, 1_700_000_000_000_000), 8);
        yield return Of("Pong", new PongFrame(1));
        yield return Of("Error", new ErrorFrame(ErrorCode.UnexpectedFrame, "late"));
        yield return Of("GoAway", new GoAwayFrame(ErrorCode.ShuttingDown, 5000, "bye"));

        var frame = new byte[1024];
        int length = PublishAckFrame.Write(
            frame,
            1,
            Durability.Fsync,
            [new(100, 4, ErrorCode.None, 1000), new(104, 1, ErrorCode.StreamBroken, -1)]
        );
        yield return new("PublishAck", frame[FrameHeader.Size..length], ReadPublishAck);
        length = SettleFrame.Write(
            frame,
            2,
            4,
            [new(SettleKind.Abandon, 9, 1000, 3, 500), new(SettleKind.DeadLetter, 9, 1003, 1)],
            "bad"u8
        );
        yield return new("Settle", frame[FrameHeader.Size..length], ReadSettle);
        length = SettledFrame.Write(
            frame,
            2,
            4,
            [new(SettleOutcome.Done, 9, 1000, 3), new(SettleOutcome.Unknown, 9, 1003, 1)]
        );
        yield return new("Settled", frame[FrameHeader.Size..length], ReadSettled);
        length = GroupDeliverFrame.WriteHead(frame, 2, new GroupDelivery(1001, 2, 9, 1, 30_000), 160);
        yield return new(
            "GroupDeliver",
            [.. frame[FrameHeader.Size..length], .. Sample.StampedBatch()],
            body => ReadGroupDeliver(0, body)
        );
        length = GroupDeliverFrame.WriteHead(frame, 2, new GroupDelivery(1001, 2, 9, 1, 30_000), 0);
        yield return new(
            "GroupDeliver of the same batch",
            frame[FrameHeader.Size..length],
            body => ReadGroupDeliver(GroupDeliverFrame.SameBatch, body)
        );
    }

    /// <param name="name">The frame's name.</param>
    /// <param name="body">The body.</param>
    /// <param name="optionalTails">How many bytes at its end may be missing: fields that older peers leave out.</param>
    private static Case Of<TBody>(string name, TBody body, params int[] optionalTails)
        where TBody : IFrameBody<TBody>
    {
        var frame = new byte[FrameHeader.Size + body.MaxSize];
        int length = FrameCodec.Write(frame, body);
        return new Case(name, frame[FrameHeader.Size..length], bytes => FrameCodec.Read<TBody>(bytes), optionalTails);
    }

    private static void ReadPublishAck(byte[] body)
    {
        var frame = new PublishAckFrame(body);
        for (int i = 0; i < frame.Count; i++)
            _ = frame[i];
    }

    private static void ReadSettle(byte[] body)
    {
        var frame = new SettleFrame(body);
        for (int i = 0; i < frame.Count; i++)
            _ = frame[i];
    }

    private static void ReadSettled(byte[] body)
    {
        var frame = new SettledFrame(body);
        for (int i = 0; i < frame.Count; i++)
            _ = frame[i];
    }

    private static void ReadGroupDeliver(byte flags, byte[] body)
    {
        var frame = new GroupDeliverFrame(flags, body);
        if (frame.HasBatch)
            HostileReading.Batch(frame.Batch);
    }

    internal sealed record Case(string Name, byte[] Bytes, Action<byte[]> Read, params int[] OptionalTails);
}
