using System.Buffers.Binary;
using System.Text;
using LightQ.Client;
using LightQ.IntegrationTests.DataPlane;
using LightQ.IntegrationTests.Tls;
using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Frames;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Faults;

/// <summary>
/// N2: lengths that lie, frames in pieces, other protocols, and garbage: each gets a typed error or the end, costs next
/// to nothing, and harms nobody else.
/// </summary>
[Collection(FaultCollection.Name)]
[Trait("Fault", "N2")]
[Trait("Tier", "C")]
public sealed class MalformedTrafficTests : IAsyncDisposable
{
    private const string Topic = "t";
    private const int MaxMessageBytes = 4096;
    private const int MaxBatchBytes = MaxMessageBytes + ProtocolLimits.BatchOverheadBytes;

    /// <summary>
    /// What one hostile connection may make the process allocate, this test and a TLS handshake included: a receive
    /// block is 256 KiB, the largest frame 4 MiB.
    /// </summary>
    private const long MaxAllocation = 2 * 1024 * 1024;

    private static readonly uint[] Lengths = [0, 1, 15, int.MaxValue, 0x8000_0000, uint.MaxValue];
    private readonly TlsFiles _files = new();
    private FaultRun _run = null!;
    private TestServer _server = null!;
    private bool _tls;
    private int _left;

    [Theory]
    [Trait("Plain", "no")]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Whatever_comes_gets_a_typed_error_or_the_end_and_others_are_served(bool tls)
    {
        FaultRun.RequireTier("A thousand hostile connections take seconds.");
        _tls = tls;
        _run = new FaultRun(
            tls ? "N2.tls" : "N2.plain",
            $"lengths at their limits, frames in pieces, other protocols and garbage{(tls ? ", with TLS" : "")}"
        );
        _server = tls ? await _files.StartServerAsync() : await TestServer.StartAsync();
        await _server.CreateTopicAsync(Topic, maxMessageBytes: MaxMessageBytes);

        await FrameLengthsAsync();
        await BatchLengthsAsync();
        await StringLengthsAsync();
        await ServeAsync();
        await PiecesAsync();
        await OtherProtocolsAsync();
        await GarbageAsync();
        await ServeAsync();

        await _server.ConnectionsAsync(0);
        _run.Report();
        // What the web server itself says of a broken request is its own affair.
        string[] errors = [.. _server.Log.Errors.Where(e => e.Contains("at LightQ.", StringComparison.Ordinal))];
        Assert.True(errors.Length == 0, string.Join("\n", errors));
        Assert.True(
            _run["largest allocation, bytes"] <= MaxAllocation,
            $"A hostile connection made the process allocate {_run["largest allocation, bytes"]} bytes."
        );
    }

    public async ValueTask DisposeAsync()
    {
        if (_server is not null)
            await _server.DisposeAsync();
        _files.Dispose();
    }

    private async Task FrameLengthsAsync()
    {
        foreach (uint length in (uint[])[.. Lengths, ProtocolLimits.HandshakeFrameBytes + 1])
        {
            await HostileAsync(
                greet: false,
                async peer =>
                {
                    await peer.SendAsync(Header(FrameType.Hello, length));
                    await ExpectErrorAsync(
                        peer,
                        length < FrameHeader.Size ? ErrorCode.MalformedFrame : ErrorCode.FrameTooLarge
                    );
                }
            );
        }
        foreach (uint length in (uint[])[.. Lengths, ProtocolLimits.DefaultFrameBytes + 1])
        {
            await HostileAsync(
                greet: true,
                async peer =>
                {
                    await peer.SendAsync(Header(FrameType.Publish, length));
                    await ExpectErrorAsync(
                        peer,
                        length < FrameHeader.Size ? ErrorCode.MalformedFrame : ErrorCode.FrameTooLarge
                    );
                }
            );
        }
        // One that says the most there may be and sends nothing of it costs nothing; one that sends it is served.
        await HostileAsync(
            greet: true,
            peer => peer.SendAsync(Header(FrameType.Ping, ProtocolLimits.DefaultFrameBytes))
        );
        byte[] largest = new byte[ProtocolLimits.DefaultFrameBytes];
        Header(FrameType.Ping, (uint)largest.Length).CopyTo(largest, 0);
        largest[FrameHeader.Size] = 7;
        await using HostilePeer full = await HostilePeer.GreetAsync(_server.DataPort, _tls);
        await full.SendAsync(largest);
        Assert.Equal(7ul, FrameCodec.Read<PongFrame>(await full.ReadAsync(FrameType.Pong)).Payload);
    }

    private async Task BatchLengthsAsync()
    {
        byte[] valid = RawClient.Batch(0, 100);
        foreach (
            uint length in (uint[])
                [
                    .. Lengths,
                    8,
                    BatchLayout.HeaderSize - 8,
                    BatchLayout.HeaderSize,
                    (uint)valid.Length - 8,
                    (uint)valid.Length + 1,
                    (uint)valid.Length + 8,
                ]
        )
        {
            byte[] batch = [.. valid];
            BinaryPrimitives.WriteUInt32LittleEndian(batch, length);
            BinaryPrimitives.WriteUInt32LittleEndian(
                batch.AsSpan(BatchLayout.HeaderCrc),
                BatchView.ComputeHeaderCrc(batch.AsSpan(0, BatchLayout.HeaderSize))
            );
            await PublishAsync(batch, ErrorCode.MalformedBatch);
        }
        foreach (int field in (int[])[BatchLayout.RecordCount, BatchLayout.OffsetSpan, BatchLayout.UncompressedLength])
        {
            foreach (uint value in Lengths)
            {
                if (field == BatchLayout.OffsetSpan && value == 1)
                    continue; // It has one record.
                byte[] batch = [.. valid];
                BinaryPrimitives.WriteUInt32LittleEndian(batch.AsSpan(field), value);
                if (field == BatchLayout.RecordCount)
                    BinaryPrimitives.WriteUInt32LittleEndian(batch.AsSpan(BatchLayout.OffsetSpan), value);
                BinaryPrimitives.WriteUInt32LittleEndian(
                    batch.AsSpan(BatchLayout.HeaderCrc),
                    BatchView.ComputeHeaderCrc(batch.AsSpan(0, BatchLayout.HeaderSize))
                );
                if (field != BatchLayout.RecordCount || value != 1)
                    await PublishAsync(batch, ErrorCode.MalformedBatch);
            }
        }
        const int Overhead = BatchLayout.HeaderSize + 8;
        await PublishAsync(RawClient.Batch(0, MaxBatchBytes - Overhead), ErrorCode.None);
        await PublishAsync(RawClient.Batch(0, MaxBatchBytes - Overhead + 1), ErrorCode.MessageTooLarge);
    }

    private async Task StringLengthsAsync()
    {
        byte[] hello = HostilePeer.Frame(new HelloFrame(1, 1, 0, "name", HelloFrame.Anonymous, ""));
        byte[] open = HostilePeer.Frame(new OpenProducerFrame("none", 0, Durability.Default, ""), 1, 1);
        byte[] subscribe = HostilePeer.Frame(
            new SubscribeFrame(
                "none",
                0,
                "g",
                StartKind.Latest,
                0,
                -1,
                0,
                0,
                SettleMode.Automatic,
                SlowPolicy.TopicDefault,
                0
            ),
            1,
            1
        );
        foreach (
            (byte[] frame, int at, bool greet) in new[]
            {
                (hello, FrameHeader.Size + 16, false),
                (open, FrameHeader.Size, true),
                (subscribe, FrameHeader.Size, true),
            }
        )
        {
            int rest = frame.Length - at - sizeof(ushort);
            foreach (int length in (int[])[0, 1, rest - 1, rest, rest + 1, short.MaxValue, ushort.MaxValue])
            {
                byte[] lie = [.. frame];
                BinaryPrimitives.WriteUInt16LittleEndian(lie.AsSpan(at), (ushort)length);
                await HostileAsync(
                    greet,
                    async peer =>
                    {
                        await peer.SendAsync(lie);
                        (FrameHeader header, byte[] body) = await peer.ReadAsync();
                        Assert.True(
                            header.Type is FrameType.Error or FrameType.Closed,
                            $"A string of {length} bytes in {frame.Length} was answered with {header.Type}."
                        );
                        Assert.NotEqual(ErrorCode.None, FrameCodec.Read<ErrorFrame>(body).Code);
                    }
                );
            }
        }
    }

    /// <summary>A whole session, cut in two at every byte, and byte by byte.</summary>
    private async Task PiecesAsync()
    {
        byte[] session =
        [
            .. HostilePeer.Frame(new HelloFrame(1, 1, 0, "pieces", HelloFrame.Anonymous, "")),
            .. HostilePeer.Frame(new OpenProducerFrame(Topic, 0, Durability.Default, ""), 1, 1),
            .. HostilePeer.Frame(
                new SubscribeFrame(
                    Topic,
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
            ),
            .. HostilePeer.Frame(new CreditFrame(10_000), 2),
            .. RawClient.PublishFrame(1, RawClient.Batch(0, 10)),
            .. HostilePeer.Frame(new CloseFrame(ErrorCode.None, ""), 1),
            .. HostilePeer.Frame(new PingFrame(9)),
        ];
        // With TLS a cut is one between two records, and a handshake costs a hundred times as much as the cut.
        for (int cut = 1; cut < session.Length; cut += _tls ? 4 : 1)
            await ServeInPiecesAsync(session[..cut], session[cut..]);
        await ServeInPiecesAsync([.. session.Select(b => (byte[])[b])]);
    }

    private async Task ServeInPiecesAsync(params byte[][] pieces)
    {
        await using HostilePeer peer = await HostilePeer.ConnectAsync(_server.DataPort, _tls);
        foreach (byte[] piece in pieces)
            await peer.SendAsync(piece);
        Assert.NotNull(await peer.ReadAsync(FrameType.Deliver));
        _run.Count("sessions in pieces");
    }

    private async Task OtherProtocolsAsync()
    {
        byte[][] others =
        [
            "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"u8.ToArray(),
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0"u8.ToArray(),
            [0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3, .. new byte[507]],
            [0, 0, 0, 0x14, 0, 0x12, 0, 3, 0, 0, 0, 1, 0, 4, .. "test"u8, .. new byte[8]],
            HostilePeer.Frame(new PingFrame(1)),
        ];
        foreach (byte[] bytes in others)
        {
            await HostileAsync(
                greet: false,
                async peer =>
                {
                    await peer.SendAsync(bytes);
                    (FrameHeader header, byte[] body) = await peer.ReadAsync();
                    Assert.Equal(FrameType.Error, header.Type);
                    Assert.NotEqual(ErrorCode.None, FrameCodec.Read<ErrorFrame>(body).Code);
                }
            );
            if (!_tls)
                continue;
            await using HostilePeer plain = await HostilePeer.ConnectAsync(_server.DataPort, tls: false);
            await plain.SendAsync(bytes);
            Assert.True(await plain.IsAnsweredAsync(TimeSpan.FromSeconds(10)), "What is not TLS was left waiting.");
            _run.Count("hostile connections");
        }
    }

    /// <summary>Garbage on the HTTP ports, where the framework reads it.</summary>
    private async Task GarbageAsync()
    {
        Random random = _run.RandomFor(1);
        var garbage = new List<byte[]>
        {
            Encoding.ASCII.GetBytes($"GET /{new string('a', 20_000)} HTTP/1.1\r\n\r\n"),
            Encoding.ASCII.GetBytes($"GET / HTTP/1.1\r\nHost: x\r\nA: {new string('b', 70_000)}\r\n\r\n"),
            "POST /admin HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n{}"u8.ToArray(),
            "POST /admin HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\n"u8.ToArray(),
            (byte[])
                [
                    .. "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"u8,
                    0xFF,
                    0xFF,
                    0xFF,
                    1,
                    0xFF,
                    0xFF,
                    0xFF,
                    0xFF,
                    0xFF,
                    .. new byte[64],
                ],
            HostilePeer.Frame(new HelloFrame(1, 1, 0, "lost", HelloFrame.Anonymous, "")),
        };
        for (int i = 0; i < 20; i++)
        {
            byte[] bytes = new byte[random.Next(1, 2000)];
            random.NextBytes(bytes);
            garbage.Add([.. bytes, .. "\r\n\r\n"u8]);
        }
        foreach (int port in (int[])[_server.ControlPort, _server.WebPort])
        {
            await Parallel.ForEachAsync(
                garbage,
                new ParallelOptions { MaxDegreeOfParallelism = 8 },
                async (bytes, _) =>
                {
                    await using HostilePeer peer = await HostilePeer.ConnectAsync(port, tls: false);
                    await peer.SendAsync(bytes);
                    if (!await peer.IsAnsweredAsync(TimeSpan.FromSeconds(2)))
                        Interlocked.Increment(ref _left);
                }
            );
            _run.Count("hostile connections", garbage.Count);
        }
        _run.Figure("left to time out", _left);
    }

    /// <summary>
    /// Publishes a batch on a stream of its own; whatever becomes of it, another stream of the connection goes on.
    /// </summary>
    private Task PublishAsync(byte[] batch, ErrorCode expected) =>
        HostileAsync(
            greet: true,
            async peer =>
            {
                await peer.SendAsync(HostilePeer.Frame(new OpenProducerFrame(Topic, 0, Durability.Default, ""), 1, 1));
                await peer.SendAsync(HostilePeer.Frame(new OpenProducerFrame(Topic, 0, Durability.Default, ""), 2, 2));
                await peer.SendAsync(RawClient.PublishFrame(1, batch));
                FrameType answer = expected == ErrorCode.None ? FrameType.PublishAck : FrameType.Closed;
                byte[]? body = await peer.ReadAsync(answer);
                Assert.True(
                    body is not null,
                    $"A batch of {batch.Length} bytes, length {BinaryPrimitives.ReadUInt32LittleEndian(batch)}, got "
                        + $"no {answer}."
                );
                if (expected != ErrorCode.None)
                    Assert.Equal(expected, FrameCodec.Read<ClosedFrame>(body).Code);
                await peer.SendAsync(RawClient.PublishFrame(2, RawClient.Batch(0, 10)));
                Assert.NotNull(await peer.ReadAsync(FrameType.PublishAck));
            }
        );

    private async Task HostileAsync(bool greet, Func<HostilePeer, Task> act)
    {
        long before = GC.GetTotalAllocatedBytes();
        await using (
            HostilePeer peer = greet
                ? await HostilePeer.GreetAsync(_server.DataPort, _tls)
                : await HostilePeer.ConnectAsync(_server.DataPort, _tls)
        )
        {
            await act(peer);
        }

        _run.Count("hostile connections");
        _run.Figure(
            "largest allocation, bytes",
            Math.Max(_run["largest allocation, bytes"], GC.GetTotalAllocatedBytes() - before)
        );
    }

    private static async Task ExpectErrorAsync(HostilePeer peer, ErrorCode code)
    {
        byte[]? body = await peer.ReadAsync(FrameType.Error);
        Assert.NotNull(body);
        Assert.Equal(code, FrameCodec.Read<ErrorFrame>(body).Code);
        Assert.Equal(default, (await peer.ReadAsync()).Header);
    }

    private static byte[] Header(FrameType type, uint length)
    {
        byte[] header = new byte[FrameHeader.Size];
        new FrameHeader(FrameHeader.Size, type, 0, 0, 0).Write(header);
        BinaryPrimitives.WriteUInt32LittleEndian(header, length);
        return header;
    }

    /// <summary>A client that does everything right is served.</summary>
    private async Task ServeAsync()
    {
        CancellationToken cancellation = TestContext.Current.CancellationToken;
        await using var client = new LightQClient(
            _tls ? _files.ClientOptions(_server) : LightQClientOptions.Parse(_server.ConnectionString)
        );
        Assert.Equal(Topic, (await client.Topics.GetAsync(Topic, cancellation)).Name);
        await using Producer producer = await client.CreateProducerAsync(Topic, cancellationToken: cancellation);
        long offset = (await producer.PublishAsync("healthy"u8.ToArray(), cancellationToken: cancellation)).Offset;
        await foreach (
            Message message in client
                .ConsumeAsync(Topic, new() { Start = StartPosition.Offset(offset) })
                .WithCancellation(cancellation)
        )
        {
            Assert.Equal("healthy", message.GetText());
            break;
        }
        if (!_tls)
        {
            Assert.Contains(
                "lightq",
                await _server.Web.GetStringAsync("/metrics", cancellation),
                StringComparison.Ordinal
            );
        }
    }
}
