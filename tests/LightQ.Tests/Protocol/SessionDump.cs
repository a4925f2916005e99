using System.Buffers;
using System.Globalization;
using System.Text;
using LightQ.Client;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Frames;
using LightQ.Protocol.Records;

namespace LightQ.Tests.Protocol;

/// <summary>The small session that the specification shows as a hex dump, made by the codecs.</summary>
internal static class SessionDump
{
    private const long Opened = 1_700_000_000_000_000;
    private static readonly Guid BrokerId = new("00112233-4455-6677-8899-aabbccddeeff");
    private static readonly Guid TopicId = new("a0a1a2a3-a4a5-a6a7-a8a9-aaabacadaeaf");

    public static string Text()
    {
        var text = new StringBuilder();
        byte[] batch = Batch();
        Frame(text, "client", "Hello", new HelloFrame(1, 1, 0, "demo", HelloFrame.Anonymous, ""));
        Frame(text, "server", "Welcome", new WelcomeFrame(1, 0, BrokerId, 42, 4_194_304, 4_194_288, 4_128_752, 10_000));
        Frame(
            text,
            "client",
            "OpenProducer",
            new OpenProducerFrame("demo", OpenProducerFrame.AnyPartition, Durability.Memory, ""),
            1,
            1
        );
        Frame(
            text,
            "server",
            "ProducerOpened",
            new ProducerOpenedFrame(TopicId, 0, 1, 1, 5, 1, 0, 0, 0, 1_048_576, 1_114_112, Durability.Memory, 0, 0),
            1,
            1
        );
        Frame(
            text,
            "client",
            "Subscribe",
            new SubscribeFrame(
                "demo",
                0,
                "",
                StartKind.Latest,
                0,
                -1,
                0,
                0,
                SettleMode.Automatic,
                SlowPolicy.TopicDefault,
                0
            ),
            2,
            2
        );
        Frame(text, "server", "Subscribed", new SubscribedFrame(TopicId, 1, 5, 1, 1000, 990, 1000), 2, 2);
        Frame(text, "client", "Credit", new CreditFrame(4_194_304), 2);
        Run(text, "client", FrameType.Publish, 1, batch);
        BatchWriter.Stamp(batch, new BatchStamp(1000, Opened + 50, 1, 0x1234_5678, 0));
        var ack = new byte[PublishAckFrame.SizeOf(1)];
        PublishAckFrame.Write(ack, 1, Durability.Memory, [new AckRange(0, 2, ErrorCode.None, 1000)]);
        Lines(text, "server", "PublishAck", ack);
        Frame(text, "server", "Credit", new CreditFrame((uint)batch.Length), 1);
        Run(text, "server", FrameType.Deliver, 2, batch);
        return text.ToString();
    }

    private static byte[] Batch()
    {
        var buffer = new byte[256];
        int at = BatchLayout.HeaderSize;
        at += RecordWriter.Write(buffer.AsSpan(at), "hello"u8);
        at += RecordWriter.Write(buffer.AsSpan(at), "world"u8, "k"u8, hasKey: true, default);
        return buffer[..BatchWriter.Complete(buffer, at - BatchLayout.HeaderSize, 2, default, Opened)];
    }

    private static void Frame<TBody>(
        StringBuilder text,
        string from,
        string name,
        TBody body,
        uint stream = 0,
        uint tag = 0
    )
        where TBody : IFrameBody<TBody>
    {
        var output = new ArrayBufferWriter<byte>();
        FrameCodec.Write(output, body, stream, tag);
        Lines(text, from, name, output.WrittenSpan);
    }

    private static void Run(StringBuilder text, string from, FrameType type, uint stream, byte[] batch)
    {
        var frame = new byte[FrameHeader.Size + batch.Length];
        new FrameHeader(frame.Length, type, 0, stream, 0).Write(frame);
        batch.CopyTo(frame, FrameHeader.Size);
        Lines(text, from, type.ToString(), frame);
    }

    private static void Lines(StringBuilder text, string from, string name, ReadOnlySpan<byte> bytes)
    {
        text.Append(CultureInfo.InvariantCulture, $"{from}: {name}, {bytes.Length} bytes\n");
        for (int at = 0; at < bytes.Length; at += 16)
        {
            ReadOnlySpan<byte> line = bytes[at..Math.Min(at + 16, bytes.Length)];
            text.Append(CultureInfo.InvariantCulture, $"{at:x4} ");
            foreach (byte b in line)
                text.Append(CultureInfo.InvariantCulture, $" {b:x2}");
            text.Append(' ', 3 * (16 - line.Length)).Append("  ");
            foreach (byte b in line)
                text.Append(b is >= 0x20 and < 0x7F ? (char)b : '.');
            text.Append('\n');
        }
        text.Append('\n');
    }
}
