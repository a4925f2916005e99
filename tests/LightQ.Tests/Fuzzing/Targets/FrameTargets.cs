using System.Buffers;
using System.Buffers.Binary;
using LightQ.Protocol;
using LightQ.Protocol.Frames;
using LightQ.Server.Hosting;
using LightQ.Server.Limits;
using LightQ.Server.Tls;
using LightQ.Tests.Protocol;
using LightQ.Tests.Protocol.Frames;
using LightQ.Tests.Server.Hosting;
using static LightQ.Tests.Fuzzing.FuzzInvariantException;

namespace LightQ.Tests.Fuzzing.Targets;

/// <summary>The data plane's frames, as either side reads them.</summary>
internal static class FrameTargets
{
    private static readonly HashSet<Type> Refusals = [typeof(ProtocolException)];

    public static IEnumerable<FuzzTarget> All()
    {
        byte[][] frames = [.. FrameBodies.ByName.Values.Select(Frame)];
        yield return new FuzzTarget
        {
            Name = "first-bytes",
            What = "TLS, or a frame's header",
            Parse = FirstBytesAndHeader,
            Seeds = [.. frames.Select(f => f[..FrameHeader.Size])],
            Tokens =
            [
                [0x16, 3, 1],
                "GET /"u8.ToArray(),
                "PRI * HTTP/2.0"u8.ToArray(),
            ],
            Refusals = Refusals,
            MaxLength = 64,
        };
        yield return new FuzzTarget
        {
            Name = "frame-bodies",
            What = "each frame's body, and written again",
            Parse = input => input.Length > 0 && Body((FrameType)(input[0] & 31), (byte)(input[0] >> 7), input[1..]),
            Seeds =
            [
                .. FrameBodies.ByName.Values.Select(body =>
                    (byte[])[(byte)((byte)TypeOf(body) | (IsSameBatch(body) ? 0x80 : 0)), .. body.Bytes]
                ),
            ],
            Refusals = Refusals,
        };
        byte[] preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"u8.ToArray();
        yield return new FuzzTarget
        {
            Name = "http2-frames",
            What = "what a connection of HTTP/2 costs, in one piece and byte by byte",
            Parse = Http2,
            Seeds =
            [
                [
                    .. preface,
                    .. Http2ScanTests.Frame(4, 0, 6),
                    .. Http2ScanTests.Frame(1, 5, 40),
                    .. Http2ScanTests.Frame(0, 1, 9),
                ],
                [.. preface, .. Http2ScanTests.Frame(1, 1, 40), .. Http2ScanTests.Frame(9, 4, 20)],
            ],
            Tokens = [preface],
            MaxLength = 256,
        };
        yield return new FuzzTarget
        {
            Name = "frames",
            What = "frames in one piece and in several",
            Parse = new SplitFrames().Parse,
            Seeds = [.. frames, [.. frames[0], .. frames[1], .. frames[2]]],
            Refusals = Refusals,
            Seal = (buffer, length) =>
            {
                if (length >= FrameHeader.Size)
                    BinaryPrimitives.WriteInt32LittleEndian(buffer, length);
            },
        };
    }

    /// <summary>Follows a connection of HTTP/2 in one go and byte by byte.</summary>
    private static bool Http2(ReadOnlySpan<byte> input)
    {
        Http2Scan whole = new(),
            pieces = new();
        long cost = 0,
            costs = 0;
        ThrowUnless(whole.Take(input, ref cost, long.MaxValue) == input.Length, "it takes what it may");
        for (int i = 0; i < input.Length; i++)
            pieces.Take(input.Slice(i, 1), ref costs, long.MaxValue);
        ThrowUnless(
            cost == costs && whole.Completed == pieces.Completed && whole.IsPartial == pieces.IsPartial,
            "what is sent in pieces is the same"
        );
        ThrowUnless(cost >= 0 && cost <= (long)input.Length * CallPace.Call, "no byte costs more than a call");
        return whole.Completed > 1;
    }

    /// <summary>
    /// Reads a body of a type, whichever side it comes from, and checks that what is written of it reads back as the
    /// same.
    /// </summary>
    public static bool Body(FrameType type, byte flags, ReadOnlySpan<byte> body)
    {
        switch (type)
        {
            case FrameType.Hello:
                return Again<HelloFrame>(body);
            case FrameType.Welcome:
                return Again<WelcomeFrame>(body);
            case FrameType.OpenProducer:
                return Again<OpenProducerFrame>(body);
            case FrameType.ProducerOpened:
                return Again<ProducerOpenedFrame>(body);
            case FrameType.Subscribe:
                return Again<SubscribeFrame>(body);
            case FrameType.Subscribed:
                return Again<SubscribedFrame>(body);
            case FrameType.Credit:
                return Again<CreditFrame>(body);
            case FrameType.Window:
                return Again<WindowFrame>(body);
            case FrameType.Gap:
                return Again<GapFrame>(body);
            case FrameType.Close:
                return Again<CloseFrame>(body);
            case FrameType.Closed:
                return Again<ClosedFrame>(body);
            case FrameType.Ping:
                return Again<PingFrame>(body);
            case FrameType.Pong:
                return Again<PongFrame>(body);
            case FrameType.Error:
                return Again<ErrorFrame>(body);
            case FrameType.GoAway:
                return Again<GoAwayFrame>(body);
            case FrameType.PublishAck:
                var ack = new PublishAckFrame(body);
                for (int i = 0; i < ack.Count; i++)
                    _ = ack[i];
                return true;
            case FrameType.Settle:
                var settle = new SettleFrame(body);
                for (int i = 0; i < settle.Count; i++)
                    ThrowUnless(settle[i] is { Count: > 0, FirstOffset: >= 0 }, "a range that settles is one");
                return true;
            case FrameType.Settled:
                var settled = new SettledFrame(body);
                for (int i = 0; i < settled.Count; i++)
                    ThrowUnless(settled[i] is { Count: > 0, FirstOffset: >= 0 }, "a settled range is one");
                return true;
            case FrameType.GroupDeliver:
                var deliver = new GroupDeliverFrame(flags, body);
                if (deliver.HasBatch)
                    HostileReading.Batch(deliver.Batch);
                return true;
            case FrameType.Publish or FrameType.Deliver:
                HostileReading.Run(body);
                return true;
            default:
                return false;
        }
    }

    private static byte[] Frame(FrameBodies.Case body)
    {
        byte[] frame = [.. new byte[FrameHeader.Size], .. body.Bytes];
        new FrameHeader(
            frame.Length,
            TypeOf(body),
            IsSameBatch(body) ? GroupDeliverFrame.SameBatch : (byte)0,
            3,
            7
        ).Write(frame);
        return frame;
    }

    private static bool IsSameBatch(FrameBodies.Case body) =>
        body.Name.EndsWith("same batch", StringComparison.Ordinal);

    private static FrameType TypeOf(FrameBodies.Case body) => Enum.Parse<FrameType>(body.Name.Split(' ')[0]);

    private static bool FirstBytesAndHeader(ReadOnlySpan<byte> input)
    {
        bool isTls = FirstBytes.AreTls(input);
        if (!FrameHeader.TryRead(input, ProtocolLimits.HandshakeFrameBytes, out FrameHeader header))
            return false;
        ThrowUnless(!isTls, "no frame before the handshake looks like TLS");
        ThrowUnless(
            header.Length is >= FrameHeader.Size and <= ProtocolLimits.HandshakeFrameBytes
                && Enum.IsDefined(header.Type),
            "a header is within its limits"
        );
        return true;
    }

    private static bool Again<TBody>(ReadOnlySpan<byte> body)
        where TBody : IFrameBody<TBody>, IEquatable<TBody>
    {
        TBody read = FrameCodec.Read<TBody>(body);
        byte[] frame = ArrayPool<byte>.Shared.Rent(FrameHeader.Size + read.MaxSize);
        int length = FrameCodec.Write(frame, read);
        bool isSame = FrameCodec.Read<TBody>(frame.AsSpan(FrameHeader.Size, length - FrameHeader.Size)).Equals(read);
        ArrayPool<byte>.Shared.Return(frame);
        ThrowUnless(isSame, $"a {typeof(TBody).Name} that is written reads back as the same");
        return true;
    }

    /// <summary>Reads the same bytes in one piece and cut into three: the outcome is the same.</summary>
    private sealed class SplitFrames
    {
        private readonly List<(FrameHeader, int)> _whole = [];
        private readonly List<(FrameHeader, int)> _split = [];
        private readonly FrameReader _reader = new() { MaxFrameBytes = ProtocolLimits.DefaultFrameBytes };

        public bool Parse(ReadOnlySpan<byte> input)
        {
            byte[] bytes = input.ToArray();
            int first = bytes.Length == 0 ? 0 : bytes[^1] % (bytes.Length + 1),
                second = first + ((bytes.Length - first) / 2);
            ProtocolException? split = Read(Segments.Of(bytes, first, second), _split);
            ProtocolException? whole = Read(new ReadOnlySequence<byte>(bytes), _whole);
            ThrowUnless(
                whole?.Message == split?.Message && _whole.SequenceEqual(_split),
                "frames in pieces are the frames in one piece"
            );
            return whole is null ? _whole.Count != 0 : throw whole;
        }

        private ProtocolException? Read(ReadOnlySequence<byte> buffer, List<(FrameHeader, int)> frames)
        {
            frames.Clear();
            try
            {
                while (_reader.TryRead(ref buffer, out FrameHeader header, out ReadOnlySpan<byte> body))
                {
                    frames.Add(
                        (
                            header,
                            body.Length == header.BodyLength
                                ? body.Length == 0
                                    ? 0
                                    : body[0] + (body[^1] << 8)
                                : -1
                        )
                    );
                    Body(header.Type, header.Flags, body);
                }
                return null;
            }
            catch (ProtocolException e)
            {
                return e;
            }
        }
    }
}
