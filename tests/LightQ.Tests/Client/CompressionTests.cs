using System.IO.Compression;
using System.Text;
using LightQ.Client;
using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Frames;
using LightQ.Protocol.Records;
using Xunit;

namespace LightQ.Tests.Client;

public sealed class CompressionTests
{
    private static readonly byte[] Letters = Encoding.ASCII.GetBytes(
        string.Concat(Enumerable.Repeat("lorem ipsum ", 100))
    );

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(BatchCodec.Brotli)]
    [InlineData(BatchCodec.Deflate)]
    public async Task A_batch_is_sent_compressed_with_its_checksum_over_what_is_sent(BatchCodec codec)
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        (Producer producer, FakeConnection connection) = await OpenAsync(
            broker,
            client,
            new ProducerOptions { Compression = codec }
        );
        using FakeConnection _ = connection;
        ValueTask<PublishAck> publishing = producer.PublishAsync(Letters, key: "k", cancellationToken: Cancel);
        FakeFrame frame = await connection.ReadAsync(FrameType.Publish);

        Assert.Equal(
            ErrorCode.None,
            BatchValidator.CheckPublished(
                frame.Body,
                ProtocolLimits.DefaultBatchBytes,
                out BatchView batch,
                out string reason
            )
        );
        Assert.Empty(reason);
        Assert.Equal(codec, batch.Codec);
        Assert.True(batch.VerifyPayload());
        Assert.True(batch.Length < Letters.Length / 4, $"{batch.Length} bytes");
        byte[] records = new byte[batch.UncompressedLength];
        Assert.True(BatchCompression.TryInflate(codec, batch.Payload, records));
        var record = new RecordEnumerator(records, 1, 0);
        Assert.True(record.MoveNext());
        Assert.Equal(Letters, record.Current.Body);
        Assert.Equal("k"u8, record.Current.Key);
        await connection.AckAsync(frame.Header.Stream, new AckRange(0, 1, ErrorCode.None, 5));
        Assert.Equal(5, (await publishing).Offset);
    }

    [Fact]
    public async Task What_is_short_or_does_not_become_shorter_is_sent_as_it_is()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        (Producer producer, FakeConnection connection) = await OpenAsync(
            broker,
            client,
            new ProducerOptions { Compression = BatchCodec.Brotli }
        );
        using FakeConnection _ = connection;
        byte[] random = new byte[10_000];
        new Random(5).NextBytes(random);
        foreach (byte[] body in (byte[][])[Letters[..400], random])
        {
            ValueTask<PublishAck> publishing = producer.PublishAsync(body, cancellationToken: Cancel);
            FakeBatch batch = await connection.ReadBatchAsync();
            Assert.Equal(Encoding.UTF8.GetString(body), Assert.Single(batch.Bodies));
            await connection.AckAsync(batch.Stream, batch.Ack(0));
            await publishing;
        }
    }

    [Fact]
    public async Task The_window_counts_what_was_sent_and_not_what_it_was_before()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        const int Window = 8 * 1024;
        (Producer producer, FakeConnection connection) = await OpenAsync(
            broker,
            client,
            new ProducerOptions { Compression = BatchCodec.Deflate, BatchBytes = 4096 },
            Window
        );
        using FakeConnection _ = connection;
        // A hundred windows of messages, of which only what was received is credited.
        const int Messages = 100 * Window / 1000;
        Task<int> broken = AnswerAsync();
        for (int i = 0; i < Messages; i++)
            await producer.PublishAsync(Letters.AsMemory(0, 1000), cancellationToken: Cancel);
        await producer.FlushAsync(Cancel);
        Assert.True(await broken < Window * 20);

        async Task<int> AnswerAsync()
        {
            int bytes = 0;
            for (int seen = 0; seen < Messages; )
            {
                FakeFrame frame = await connection.ReadAsync(FrameType.Publish);
                (ulong sequence, int count, int length) = Header(frame);
                bytes += length;
                seen += count;
                await connection.WriteAsync(new CreditFrame((uint)length), frame.Header.Stream);
                await connection.AckAsync(
                    frame.Header.Stream,
                    new AckRange(sequence, (uint)count, ErrorCode.None, (long)sequence)
                );
            }
            return bytes;
        }
    }

    [Fact]
    public async Task A_named_producer_sends_a_compressed_batch_again_as_it_was()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        Task<FakeConnection> accepting = broker.AcceptAsync();
        Task<Producer> creating = client.CreateProducerAsync(
            "orders",
            new ProducerOptions { Name = "p", Compression = BatchCodec.Brotli },
            Cancel
        );
        byte[] first;
        ValueTask<PublishAck> publishing;
        using (FakeConnection connection = await accepting)
        {
            await connection.OpenProducerAsync(producerId: 9, epoch: 1);
            publishing = (await creating).PublishAsync(Letters, cancellationToken: Cancel);
            first = (await connection.ReadAsync(FrameType.Publish)).Body;
        }
        using FakeConnection next = await broker.AcceptAsync();
        await next.OpenProducerAsync(producerId: 9, epoch: 2);
        FakeFrame again = await next.ReadAsync(FrameType.Publish);
        Check(first, again.Body);
        await next.AckAsync(again.Header.Stream, new AckRange(0, 1, ErrorCode.None, 3));
        Assert.Equal(3, (await publishing).Offset);
        await (await creating).DisposeAsync();

        static void Check(byte[] first, byte[] again)
        {
            var before = new BatchView(first);
            var after = new BatchView(again);
            Assert.Equal(before.Payload, after.Payload);
            Assert.Equal((1u, 2u), (before.ProducerEpoch, after.ProducerEpoch));
            Assert.True(after.VerifyHeader() && after.VerifyPayload());
        }
    }

    [Theory]
    [InlineData(BatchCodec.Brotli)]
    [InlineData(BatchCodec.Deflate)]
    public async Task Compressed_and_plain_batches_are_read_alike(BatchCodec codec)
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        await using var messages = client.ConsumeAsync("orders", cancellationToken: Cancel).GetAsyncEnumerator(Cancel);
        ValueTask<bool> moved = messages.MoveNextAsync();
        using FakeConnection connection = await broker.AcceptAsync();
        (FakeFrame subscribe, _) = await connection.SubscribeAsync();
        byte[][] batches =
        [
            Compressed(codec, 0, "a1", "a2"),
            FakeConnection.Batch(2, "b"u8.ToArray()),
            Compressed(codec, 3, "c1", "c2"),
        ];
        await connection.DeliverAsync(subscribe.Header.Stream, batches);
        var seen = new List<string>();
        Message kept = default;
        for (int i = 0; i < 5; i++)
        {
            Assert.True(await moved);
            seen.Add($"{messages.Current.Offset}{messages.Current.GetText()}");
            if (i == 0)
                kept = messages.Current;
            moved = messages.MoveNextAsync();
        }
        Assert.Equal(["0a1", "1a2", "2b", "3c1", "4c2"], seen);
        Assert.Equal(("a1", DateTimeOffset.UnixEpoch.AddSeconds(2)), (kept.GetText(), kept.AppendTime));

        await using var whole = client
            .ConsumeBatchesAsync("orders", cancellationToken: Cancel)
            .GetAsyncEnumerator(Cancel);
        moved = whole.MoveNextAsync();
        (subscribe, _) = await connection.SubscribeAsync();
        await connection.DeliverAsync(subscribe.Header.Stream, batches);
        var texts = new List<string>();
        for (int i = 0; i < 3; i++)
        {
            Assert.True(await moved);
            foreach (RecordView record in whole.Current)
                texts.Add($"{record.Offset}{Encoding.UTF8.GetString(record.Body)}");
            Assert.Equal(new BatchView(whole.Current.Bytes).Length, whole.Current.Bytes.Length);
            moved = whole.MoveNextAsync();
        }
        Assert.Equal(seen, texts);
    }

    [Theory]
    [InlineData(BatchCodec.Brotli)]
    [InlineData(BatchCodec.Deflate)]
    public async Task A_batch_that_does_not_inflate_is_a_gap_over_its_messages(BatchCodec codec)
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        var gaps = new List<MessageGap>();
        await using var messages = client
            .ConsumeAsync("orders", new ConsumeOptions { OnGap = gaps.Add }, Cancel)
            .GetAsyncEnumerator(Cancel);
        ValueTask<bool> moved = messages.MoveNextAsync();
        using FakeConnection connection = await broker.AcceptAsync();
        (FakeFrame subscribe, _) = await connection.SubscribeAsync();
        byte[] rubbish = Batch(codec, 5, [.. Enumerable.Repeat((byte)0xFF, 64)], 2, 4096);
        byte[] unknown = Batch((BatchCodec)9, 7, new byte[64], 1, 64);
        await connection.DeliverAsync(
            subscribe.Header.Stream,
            rubbish,
            unknown,
            FakeConnection.Batch(8, "good"u8.ToArray())
        );
        Assert.True(await moved);
        Assert.Equal("good", messages.Current.GetText());
        Assert.Equal([new("orders", 5, 6, GapReason.Corrupt), new("orders", 7, 7, GapReason.Corrupt)], gaps);
    }

    [Theory]
    [InlineData(1024, 128 * 1024, 64 * 1024)]
    [InlineData(64, 64 * 257, 16 * 1024 * 1024)]
    [InlineData(1024 * 1024, (16 * 1024 * 1024) + 1, 16 * 1024 * 1024)]
    [InlineData(1024, int.MaxValue, 16 * 1024 * 1024)]
    [InlineData(1024, -1, 16 * 1024 * 1024)]
    public void Memory_is_not_reserved_for_what_is_above_a_bound(int payload, int says, int limit)
    {
        var inflater = new BatchInflater(limit);
        Assert.False(inflater.TryInflate(new BatchView(Batch(BatchCodec.Brotli, 0, new byte[payload], 1, says))));
        Assert.Empty(inflater.Memory);
    }

    [Theory]
    [InlineData(BatchCodec.Brotli)]
    [InlineData(BatchCodec.Deflate)]
    public void A_bomb_ends_at_the_length_that_it_said(BatchCodec codec)
    {
        byte[] bomb = new byte[200_000];
        Assert.True(
            BatchCompression.TryCompress(codec, CompressionLevel.Fastest, new byte[10_000_000], bomb, out int length)
        );
        var inflater = new BatchInflater(ProtocolLimits.InflatedBatchBytes);
        Assert.False(inflater.TryInflate(new BatchView(Batch(codec, 0, bomb[..length], 1, 4096))));
        Assert.InRange(inflater.Memory.Length, 1, 8192);
    }

    private static (ulong Sequence, int Count, int Length) Header(FakeFrame frame)
    {
        var batch = new BatchView(frame.Body);
        return (batch.BaseSequence, batch.RecordCount, batch.Length);
    }

    private static byte[] Compressed(BatchCodec codec, long offset, params string[] texts)
    {
        byte[] plain = FakeConnection.Batch(offset, [.. texts.Select(Encoding.UTF8.GetBytes)]);
        var view = new BatchView(plain);
        byte[] payload = new byte[1024];
        Assert.True(
            BatchCompression.TryCompress(
                codec,
                CompressionLevel.Fastest,
                view.Payload[..view.UncompressedLength],
                payload,
                out int length
            )
        );
        return Batch(codec, offset, payload[..length], texts.Length, view.UncompressedLength);
    }

    private static byte[] Batch(BatchCodec codec, long offset, byte[] payload, int records, int uncompressedLength)
    {
        byte[] batch = new byte[BatchLayout.Align(BatchLayout.HeaderSize + payload.Length)];
        payload.CopyTo(batch, BatchLayout.HeaderSize);
        BatchWriter.Complete(batch, payload.Length, records, uncompressedLength, codec, default, default, 1_000_000);
        BatchWriter.Stamp(batch, new BatchStamp(offset, 2_000_000, 3, 0, 0));
        return batch;
    }

    private static async Task<(Producer Producer, FakeConnection Connection)> OpenAsync(
        FakeBroker broker,
        LightQClient client,
        ProducerOptions options,
        uint window = ProtocolLimits.DefaultPublishWindowBytes
    )
    {
        Task<FakeConnection> accepting = broker.AcceptAsync();
        Task<Producer> creating = client.CreateProducerAsync("orders", options, Cancel);
        FakeConnection connection = await accepting;
        await connection.OpenProducerAsync(window);
        return (await creating, connection);
    }
}
