using System.Net.Sockets;
using LightQ.Client;
using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Frames;
using LightQ.Protocol.Records;
using Xunit;

namespace LightQ.Tests.Client;

/// <summary>The broker's end of one connection: reads and writes whole frames.</summary>
internal sealed class FakeConnection : IDisposable
{
    private readonly TcpClient _client;
    private readonly NetworkStream _stream;

    public FakeConnection(TcpClient client)
    {
        _client = client;
        _client.NoDelay = true;
        _stream = client.GetStream();
    }

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    public async Task<HelloFrame> WelcomeAsync(
        uint heartbeatMilliseconds = 60_000,
        ulong features = 0,
        uint maxFrameBytes = ProtocolLimits.DefaultFrameBytes,
        long time = 0
    )
    {
        FakeFrame hello = await ReadAsync(FrameType.Hello);
        await WriteAsync(
            new WelcomeFrame(
                1,
                features,
                Guid.Empty,
                7,
                maxFrameBytes,
                ProtocolLimits.DefaultBatchBytes,
                ProtocolLimits.DefaultMessageBytes,
                heartbeatMilliseconds,
                time
            )
        );
        return hello.As<HelloFrame>();
    }

    /// <summary>Answers OpenProducer.</summary>
    public async Task<FakeFrame> OpenProducerAsync(
        uint window = ProtocolLimits.DefaultPublishWindowBytes,
        ulong producerId = 0,
        uint epoch = 0,
        ulong next = 0,
        uint maxBatch = ProtocolLimits.DefaultBatchBytes,
        uint batchWindow = 0,
        ulong longestDelay = ProducerOpenedFrame.UnknownDelay
    )
    {
        FakeFrame open = await ReadAsync(FrameType.OpenProducer);
        await WriteAsync(
            new ProducerOpenedFrame(
                Guid.Empty,
                0,
                1,
                1,
                1,
                1,
                producerId,
                epoch,
                next,
                window,
                maxBatch,
                Durability.Memory,
                batchWindow,
                longestDelay
            ),
            open.Header.Stream,
            open.Header.Tag
        );
        return open;
    }

    /// <summary>Answers Subscribe, and takes the Credit behind it.</summary>
    public async Task<(FakeFrame Subscribe, uint Credit)> SubscribeAsync(
        long nextOffset = 0,
        ulong incarnation = 5,
        uint epoch = 3,
        long? endOffset = null
    )
    {
        FakeFrame subscribe = await ReadAsync(FrameType.Subscribe);
        await WriteAsync(
            new SubscribedFrame(Guid.Empty, 1, incarnation, epoch, nextOffset, 0, endOffset ?? nextOffset),
            subscribe.Header.Stream,
            subscribe.Header.Tag
        );
        FakeFrame credit = await ReadAsync(FrameType.Credit);
        return (subscribe, credit.As<CreditFrame>().Bytes);
    }

    /// <summary>Reads the next frame, which must be of a type; Pings in between are answered.</summary>
    public async Task<FakeFrame> ReadAsync(FrameType expected)
    {
        while (true)
        {
            FakeFrame frame =
                await ReadAnyAsync() ?? throw new IOException($"The client closed instead of sending {expected}.");
            if (frame.Header.Type == FrameType.Ping && expected != FrameType.Ping)
            {
                await WriteAsync(new PongFrame(frame.As<PingFrame>().Payload));
                continue;
            }
            Assert.Equal(expected, frame.Header.Type);
            return frame;
        }
    }

    /// <summary>Reads the next frame; null at the end of the connection.</summary>
    public async Task<FakeFrame?> ReadAnyAsync()
    {
        byte[] header = new byte[FrameHeader.Size];
        if (await _stream.ReadAtLeastAsync(header, header.Length, throwOnEndOfStream: false, Cancel) < header.Length)
            return null;
        Assert.True(FrameHeader.TryRead(header, ProtocolLimits.DefaultFrameBytes, out FrameHeader parsed));
        byte[] body = new byte[parsed.BodyLength];
        await _stream.ReadExactlyAsync(body, Cancel);
        return new FakeFrame(parsed, body);
    }

    /// <summary>Reads one batch of a Publish frame and checks its checksums.</summary>
    public async Task<FakeBatch> ReadBatchAsync()
    {
        FakeFrame frame = await ReadAsync(FrameType.Publish);
        return FakeBatch.Read(frame);
    }

    public Task WriteAsync<TBody>(TBody body, uint stream = 0, uint tag = 0)
        where TBody : IFrameBody<TBody>
    {
        byte[] bytes = new byte[FrameHeader.Size + body.MaxSize];
        int length = FrameCodec.Write(bytes, body, stream, tag);
        return WriteRawAsync(bytes.AsMemory(0, length));
    }

    public async Task WriteRawAsync(ReadOnlyMemory<byte> bytes) => await _stream.WriteAsync(bytes, Cancel);

    public Task AckAsync(uint stream, params AckRange[] ranges)
    {
        byte[] bytes = new byte[PublishAckFrame.SizeOf(ranges.Length)];
        PublishAckFrame.Write(bytes, stream, Durability.Memory, ranges);
        return WriteRawAsync(bytes);
    }

    /// <summary>Delivers batches in one frame.</summary>
    public Task DeliverAsync(uint stream, params byte[][] batches)
    {
        byte[] run = [.. batches.SelectMany(b => b)];
        byte[] frame = new byte[FrameHeader.Size + run.Length];
        new FrameHeader(frame.Length, FrameType.Deliver, 0, stream, 0).Write(frame);
        run.CopyTo(frame, FrameHeader.Size);
        return WriteRawAsync(frame);
    }

    /// <summary>Delivers a range of a batch to a member of a group with explicit settlement.</summary>
    public Task DeliverAsync(uint stream, GroupDelivery delivery, byte[] batch)
    {
        byte[] frame = new byte[GroupDeliverFrame.HeadSize + batch.Length];
        GroupDeliverFrame.WriteHead(frame, stream, delivery, batch.Length);
        batch.CopyTo(frame, GroupDeliverFrame.HeadSize);
        return WriteRawAsync(frame);
    }

    /// <summary>A batch as a broker sends it.</summary>
    public static byte[] Batch(long baseOffset, params byte[][] bodies) =>
        Batch(baseOffset, [.. bodies.Select(b => (Array.Empty<byte>(), b))]);

    /// <summary>A batch of messages with keys; one that is empty is none.</summary>
    public static byte[] Batch(long baseOffset, params (byte[] Key, byte[] Body)[] messages)
    {
        int recordBytes = messages.Sum(m => RecordWriter.SizeOf(m.Body.Length, m.Key.Length));
        byte[] batch = new byte[BatchLayout.Align(BatchLayout.HeaderSize + recordBytes)];
        int at = BatchLayout.HeaderSize;
        foreach ((byte[] key, byte[] body) in messages)
            at += RecordWriter.Write(batch.AsSpan(at), body, key, hasKey: key.Length != 0, headers: default);
        BatchWriter.Complete(batch, recordBytes, messages.Length, default, 1_000_000);
        BatchWriter.Stamp(batch, new BatchStamp(baseOffset, 2_000_000, 3, 0, 0));
        return batch;
    }

    public void Dispose() => _client.Dispose();
}
