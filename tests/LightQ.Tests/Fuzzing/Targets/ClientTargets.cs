using LightQ.Bench.Nats;
using LightQ.Client;
using LightQ.Client.Connections;
using LightQ.Client.Telemetry;
using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Frames;
using LightQ.Protocol.Records;
using LightQ.Tests.Protocol;
using LightQ.Tests.Protocol.Frames;
using static LightQ.Tests.Fuzzing.FuzzInvariantException;

namespace LightQ.Tests.Fuzzing.Targets;

/// <summary>What the SDK and the tool read of a broker, of messages, and of their user.</summary>
internal static class ClientTargets
{
    private const int MaxFrameBytes = 512 * 1024;
    private static readonly byte[] HeaderBytes = HeaderOf("type", "order", "region", "eu-west");

    public static IEnumerable<FuzzTarget> All()
    {
        byte[] trace = new byte[128];
        int length = RecordWriter.WriteWellKnownHeader(
            trace,
            WellKnownHeader.TraceParent,
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"u8
        );
        length += RecordWriter.WriteWellKnownHeader(trace.AsSpan(length), WellKnownHeader.TraceState, "a=b"u8);
        byte[] named = new byte[128];
        int namedLength = RecordWriter.WriteHeader(
            named,
            "traceparent"u8,
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"u8
        );
        yield return new FuzzTarget
        {
            Name = "trace-context",
            What = "a trace context in a message's headers",
            Parse = input => TraceContext.TryRead(new HeaderEnumerator(input), out _),
            Seeds = [trace[..length], named[..namedLength]],
            Tokens = FuzzText.Bytes("ff-", "00-00000000000000000000000000000000-", "0000000000000000", "tracestate"),
            MaxLength = 256,
        };
        var filter = MessageFilter.Parse("type = 'order' and (content-type ^= 'te' or not exists(a)) or \"a\" != 'xy'");
        yield return new FuzzTarget
        {
            Name = "filtered-headers",
            What = "a message's headers, asked by a filter",
            Parse = input => filter.Matches(input),
            Seeds =
            [
                [
                    .. Sample.Headers(),
                    4,
                    (byte)'t',
                    (byte)'y',
                    (byte)'p',
                    (byte)'e',
                    5,
                    0,
                    (byte)'o',
                    (byte)'r',
                    (byte)'d',
                    (byte)'e',
                    (byte)'r',
                ],
                HeaderOf("type", "order", "content-type", "text"),
            ],
            Tokens = FuzzText.Bytes("type", "order", "content-type"),
            MaxLength = 256,
        };
        yield return new FuzzTarget
        {
            Name = "filters",
            What = "a filter's text",
            Parse = Filter,
            Seeds = FuzzText.Bytes(
                "type = 'order' and (region ^= 'eu' or not exists(region))",
                "\"a b\" != 'it''s'",
                "not (not (a = '1'))"
            ),
            Tokens = FuzzText.Bytes(
                " and ",
                " or ",
                "not ",
                "(",
                ")",
                "exists(",
                "''",
                "\"\"",
                "'",
                "\"",
                "^=",
                "!=",
                "(((((((((((((((((",
                "not not not not not not ",
                "\u00A0",
                "\0"
            ),
            Refusals = new HashSet<Type> { typeof(LightQException) },
            MaxLength = 600,
        };
        yield return new FuzzTarget
        {
            Name = "received-frames",
            What = "what a broker sends, received bit by bit",
            Parse = new Intake().Parse,
            MaxAllocation = MaxFrameBytes + (64 * 1024),
            Seeds = [.. Frames()],
            Seal = (buffer, size) =>
            {
                if (size >= FrameHeader.Size)
                    System.Buffers.Binary.BinaryPrimitives.WriteInt32LittleEndian(buffer, size);
            },
            Refusals = new HashSet<Type> { typeof(ProtocolException) },
        };
        yield return new FuzzTarget
        {
            Name = "nats",
            What = "what a NATS server sends to the bench",
            Parse = new Nats().Parse,
            Seeds = FuzzText.Bytes(
                "INFO {}\r\nMSG a 1 5\r\nhello\r\nMSG a 1 5\r\nworld\r\nPING\r\n",
                "MSG a 1 reply 0\r\n\r\n+OK\r\n"
            ),
            Tokens = FuzzText.Bytes(
                "MSG ",
                "\r\n",
                "MSG a 1 2147483647\r\n",
                "MSG a 1 -1\r\n",
                "PONG\r\n",
                "-ERR 'x'\r\n"
            ),
            Refusals = new HashSet<Type> { typeof(ProtocolException) },
            MaxLength = 256,
            MaxAllocation = 20 * 1024 * 1024, // A message of 8 MiB has a buffer of twice its length.
            GateExecutions = 20_000,
        };
    }

    private static byte[] HeaderOf(string name, string value, string second, string secondValue)
    {
        var headers = new MessageHeaders { { name, value }, { second, secondValue } };
        return headers.Encoded.ToArray();
    }

    private static bool Filter(ReadOnlySpan<byte> input)
    {
        string text = FuzzText.Of(input);
        var filter = MessageFilter.Parse(text);
        filter.Matches(HeaderBytes.AsSpan());
        ThrowUnless(filter.ToString() == text, "a filter is its text");
        return true;
    }

    private static IEnumerable<byte[]> Frames()
    {
        byte[] batch = Sample.StampedBatch();
        byte[] deliver = [.. new byte[FrameHeader.Size], .. batch, .. batch];
        new FrameHeader(deliver.Length, FrameType.Deliver, 0, 1, 0).Write(deliver);
        yield return deliver;
        byte[] head = new byte[GroupDeliverFrame.HeadSize];
        GroupDeliverFrame.WriteHead(head, 1, new GroupDelivery(1001, 2, 9, 1, 30_000), batch.Length);
        yield return [.. head, .. batch];
        foreach (string name in (string[])["Welcome", "Gap", "PublishAck", "Settled", "Error"])
        {
            FrameBodies.Case body = FrameBodies.ByName[name];
            byte[] frame = [.. new byte[FrameHeader.Size], .. body.Bytes];
            new FrameHeader(frame.Length, Enum.Parse<FrameType>(name), 0, 1, 0).Write(frame);
            yield return [.. frame, .. deliver];
        }
    }

    /// <summary>Receives an input in pieces, whose length its last byte says.</summary>
    private sealed class Intake : IFrameSink
    {
        private readonly ReceiveBlockPool _pool = new();
        private int _taken;

        public bool Parse(ReadOnlySpan<byte> input)
        {
            using var intake = new FrameIntake(_pool, this) { MaxFrameBytes = MaxFrameBytes };
            _taken = 0;
            int piece = input.IsEmpty ? 1 : 1 + (input[^1] * 4);
            while (!input.IsEmpty)
            {
                Memory<byte> room = intake.Room();
                int count = Math.Min(Math.Min(piece, room.Length), input.Length);
                ThrowUnless(count > 0, "there is always room to receive into");
                input[..count].CopyTo(room.Span);
                input = input[count..];
                intake.Received(count);
            }
            return _taken != 0;
        }

        public void OnFrame(in FrameHeader header, ReadOnlySpan<byte> body)
        {
            _taken++;
            FrameTargets.Body(header.Type, header.Flags, body);
        }

        public void OnRun(uint stream, ReceiveBlock block, int offset, int length, int lastBatch)
        {
            _taken++;
            int at = offset,
                last = -1;
            var run = new BatchRun(block.Bytes.AsSpan(offset, length));
            while (run.MoveNext())
            {
                last = at;
                at += run.Current.Length;
                HostileReading.Batch(run.Current);
            }
            ThrowUnless(run.Remaining.IsEmpty && last == lastBatch, "a run is whole batches");
        }

        public void OnGroupDeliver(in FrameHeader header, ReceiveBlock block, int offset)
        {
            _taken++;
            FrameTargets.Body(header.Type, header.Flags, block.Bytes.AsSpan(offset, header.BodyLength));
        }
    }

    private sealed class Nats : INatsSink
    {
        private int _taken;

        public bool Parse(ReadOnlySpan<byte> input)
        {
            _taken = 0;
            var parser = new NatsParser(this, 64 * 1024);
            int piece = input.IsEmpty ? 1 : 1 + input[^1];
            while (!input.IsEmpty)
            {
                Span<byte> room = parser.Room();
                int count = Math.Min(Math.Min(piece, room.Length), input.Length);
                ThrowUnless(count > 0, "there is always room to receive into");
                input[..count].CopyTo(room);
                input = input[count..];
                parser.Received(count);
            }
            return _taken != 0;
        }

        public void OnMessage(ReadOnlySpan<byte> payload) => _taken++;

        public void OnLine(ReadOnlySpan<byte> line) => _taken++;
    }
}
