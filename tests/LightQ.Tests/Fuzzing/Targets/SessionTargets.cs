using LightQ.Client;
using LightQ.Protocol;
using LightQ.Protocol.Frames;
using LightQ.Tests.Protocol;

namespace LightQ.Tests.Fuzzing.Targets;

/// <summary>Whole sessions of the data plane with a broker behind them.</summary>
internal static class SessionTargets
{
    public static IEnumerable<FuzzTarget> All()
    {
        var host = new Lazy<SessionHost>();
        yield return new FuzzTarget
        {
            Name = "sessions",
            What = "a client's whole session, with a broker behind it",
            Parse = input => host.Value.Serve(input),
            Close = () =>
            {
                if (host.IsValueCreated)
                    host.Value.Dispose();
            },
            Seeds = [.. Seeds()],
            Seal = (buffer, length) =>
            {
                for (int at = 0; at + FrameHeader.Size <= length; )
                {
                    int frame = BitConverter.ToInt32(buffer, at);
                    if (frame < FrameHeader.Size || frame > length - at)
                        return;
                    if (buffer[at + 4] == (byte)FrameType.Publish)
                        Seals.Batches(buffer.AsSpan(at + FrameHeader.Size, frame - FrameHeader.Size));
                    at += frame;
                }
            },
            MaxAllocation = 4 * 1024 * 1024, // What is sent is kept here: all of the ring to a client with credit.
            GateExecutions = 3_000,
        };
    }

    private static IEnumerable<byte[]> Seeds()
    {
        const ulong features = ProtocolFeatures.Window | ProtocolFeatures.RefusedAlone;
        byte[] hello = Frame(new HelloFrame(1, 1, features, "fuzz", HelloFrame.Anonymous, ""));
        byte[] open = Frame(new OpenProducerFrame(SessionHost.Topic, 0, Durability.Default, ""), 1, 1);
        byte[] publish = [.. new byte[FrameHeader.Size], .. Sample.BatchOf(5, 6)];
        new FrameHeader(publish.Length, FrameType.Publish, 0, 1, 0).Write(publish);
        byte[] subscribe = Frame(
            new SubscribeFrame(
                SessionHost.Topic,
                0,
                "",
                StartKind.Earliest,
                0,
                -1,
                0,
                0,
                SettleMode.Explicit,
                SlowPolicy.DropOldest,
                5
            ),
            2,
            2
        );
        byte[] credit = Frame(new CreditFrame(100_000), 2);
        byte[] settle = new byte[256];
        settle = settle[..SettleFrame.Write(settle, 2, 4, [new SettleRange(SettleKind.Complete, 0, 0, 2, 0)])];
        yield return
        [
            .. hello,
            .. open,
            .. publish,
            .. subscribe,
            .. credit,
            .. settle,
            .. Frame(new PingFrame(7)),
            .. Frame(new CloseFrame(ErrorCode.None, ""), 1),
        ];
        yield return [.. hello, .. subscribe, .. credit, .. open, .. publish, .. settle];
        yield return [.. hello, .. subscribe, .. Frame(new WindowFrame(5, 1), 2), .. open, .. publish];
        yield return
        [
            .. hello,
            .. Frame(
                new SubscribeFrame(
                    SessionHost.Topic,
                    0,
                    "g",
                    StartKind.Committed,
                    0,
                    -1,
                    0,
                    0,
                    SettleMode.Automatic,
                    SlowPolicy.Block,
                    0
                ),
                2,
                2
            ),
            .. credit,
            .. Frame(new CloseFrame(ErrorCode.None, ""), 2),
        ];
        yield return [.. hello, .. Frame(new PongFrame(1)), .. Frame(new PingFrame(2))];
    }

    private static byte[] Frame<TBody>(TBody body, uint stream = 0, uint tag = 0)
        where TBody : IFrameBody<TBody>
    {
        byte[] frame = new byte[FrameHeader.Size + body.MaxSize];
        return frame[..FrameCodec.Write(frame, body, stream, tag)];
    }
}
