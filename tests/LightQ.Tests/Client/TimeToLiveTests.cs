using LightQ.Client;
using LightQ.Client.Batches;
using LightQ.Client.Publishing;
using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Frames;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.Tests.Client;

public sealed class TimeToLiveTests
{
    private static readonly PublishOptions TenSeconds = new() { TimeToLive = TimeSpan.FromSeconds(10) };

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Messages_with_the_same_expiry_share_a_batch_and_others_begin_one()
    {
        using var broker = new FakeBroker();
        var time = new ManualTime();
        await using var client = new LightQClient(broker.Options with { TimeProvider = time });
        Task<FakeConnection> accepting = broker.AcceptAsync(features: ProtocolFeatures.BrokerClock);
        Task<Producer> creating = client.CreateProducerAsync("orders", cancellationToken: Cancel);
        using FakeConnection connection = await accepting;
        // Nothing is sent before the window opens, so what is published meanwhile is batched.
        FakeFrame open = await connection.ReadAsync(FrameType.OpenProducer);
        await connection.WriteAsync(
            new ProducerOpenedFrame(Guid.Empty, 0, 1, 1, 1, 1, 0, 0, 0, 1 << 20, 1 << 20, Durability.Memory),
            open.Header.Stream,
            open.Header.Tag
        );
        Producer producer = await creating;
        var queue = new PublishQueue(64 * 1024, isRepeatable: false, time);
        queue.Open(1 << 20, 1 << 20, batchWindow: 0);
        var clock = new MessageClock(() => UnixMicroseconds.From(time.GetUtcNow()), null);
        BatchProperties ten = clock.Stamp(TenSeconds),
            none = clock.Stamp(default);
        Assert.NotEqual(default, ten);
        Assert.Equal(default, none);
        foreach (BatchProperties properties in (BatchProperties[])[ten, clock.Stamp(TenSeconds), none, none, ten])
            Assert.True(queue.TryAdd("x"u8, default, null, 9, properties));
        Assert.False(queue.TryAddToOpen("x"u8));
        var sent = new List<(int, BatchProperties)>();
        while (queue.CanSend(mayTakeOpen: true))
        {
            SendBatch batch = queue.Send();
            sent.Add((batch.Count, batch.Properties));
        }
        Assert.Equal([(2, ten), (2, none), (1, ten)], sent);

        ValueTask<PublishAck> publishing = producer.PublishAsync(
            "hello"u8.ToArray(),
            TenSeconds,
            key: "k",
            cancellationToken: Cancel
        );
        FakeFrame frame = await connection.ReadAsync(FrameType.Publish);
        Assert.Equal(ErrorCode.None, BatchValidator.CheckPublished(frame.Body, 1 << 20, out BatchView view, out _));
        Assert.Equal(10_000_000, view.ExpiresAt);
        Assert.Equal(BatchLayout.HasExpiry | BatchLayout.HasRelativeTimes, view.Flags);
        Assert.True(view.VerifyPayload());
        await connection.AckAsync(frame.Header.Stream, new AckRange(0, 1, ErrorCode.None, 0));
        await publishing;
    }

    [Fact]
    public async Task A_broker_that_does_not_know_relative_times_gets_points_in_time()
    {
        using var broker = new FakeBroker();
        var time = new ManualTime();
        await using var client = new LightQClient(broker.Options with { TimeProvider = time });
        Task<FakeConnection> accepting = broker.AcceptAsync();
        var options = new ProducerOptions { Name = "p" };
        Task<Producer> creating = client.CreateProducerAsync("orders", options, cancellationToken: Cancel);
        FakeConnection connection = await accepting;
        await connection.OpenProducerAsync(producerId: 1, epoch: 1);
        Producer producer = await creating;
        long published = UnixMicroseconds.From(time.GetUtcNow());
        var delayed = new PublishOptions { Delay = TimeSpan.FromSeconds(5), TimeToLive = TimeSpan.FromSeconds(1) };
        ValueTask<PublishAck> publishing = producer.PublishAsync(
            "hello"u8.ToArray(),
            delayed,
            cancellationToken: Cancel
        );
        Check(await connection.ReadAsync(FrameType.Publish));

        // Sent again over another connection it is the same.
        connection.Dispose();
        accepting = broker.AcceptAsync();
        while (!accepting.IsCompleted)
        {
            time.Advance(TimeSpan.FromMilliseconds(100));
            await Task.Delay(1, Cancel);
        }
        using FakeConnection second = await accepting;
        await second.OpenProducerAsync(producerId: 1, epoch: 2);
        FakeFrame frame = await second.ReadAsync(FrameType.Publish);
        Check(frame);
        await second.AckAsync(frame.Header.Stream, new AckRange(0, 1, ErrorCode.None, 0));
        await publishing;

        void Check(FakeFrame frame)
        {
            Assert.Equal(ErrorCode.None, BatchValidator.CheckPublished(frame.Body, 1 << 20, out BatchView view, out _));
            Assert.Equal((published + 5_000_000, published + 6_000_000), (view.DueAt, view.ExpiresAt));
            Assert.Equal(BatchLayout.HasDueTime | BatchLayout.HasExpiry, view.Flags);
        }
    }

    [Fact]
    public void What_is_to_be_delivered_at_a_time_is_and_what_was_to_be_is_at_once()
    {
        long now = UnixMicroseconds.From(DateTimeOffset.UnixEpoch.AddDays(20_000));
        var clock = new MessageClock(() => now, TimeSpan.FromSeconds(10));
        PublishOptions At(TimeSpan from) => new() { DeliverAt = UnixMicroseconds.ToTime(now) + from };
        BatchProperties later = clock.Stamp(At(TimeSpan.FromMinutes(1)));
        Assert.Equal((now + 60_000_000, false), (later.DueAt, later.IsRelative));
        Assert.InRange(later.ExpiresAt, now + 70_000_000, now + 70_200_000);
        Assert.Equal(new BatchProperties(0, 10_000_000, IsRelative: true), clock.Stamp(At(-TimeSpan.FromMinutes(1))));
        Assert.Throws<LightQException>(() => clock.Stamp(At(TimeSpan.FromDays(366))));
    }

    [Fact]
    public void What_lives_for_ever_or_as_good_as_has_no_expiry()
    {
        var time = new ManualTime();
        Assert.Equal(default, new MessageClock(() => UnixMicroseconds.From(time.GetUtcNow()), null).Stamp(default));
        Assert.Equal(
            default,
            new MessageClock(() => UnixMicroseconds.From(time.GetUtcNow()), TimeSpan.FromSeconds(1)).Stamp(
                new PublishOptions { TimeToLive = Timeout.InfiniteTimeSpan }
            )
        );
        Assert.Equal(
            DateTime.MaxValue.Year,
            UnixMicroseconds.ToTime(UnixMicroseconds.From(DateTimeOffset.MaxValue)).Year
        );
        Assert.NotEqual(
            default,
            new MessageClock(() => UnixMicroseconds.From(time.GetUtcNow()), TimeSpan.FromDays(36500)).Stamp(default)
        );
    }

    [Fact]
    public void A_time_to_live_below_a_millisecond_is_refused()
    {
        Assert.Throws<ArgumentOutOfRangeException>(() => new PublishOptions { TimeToLive = TimeSpan.FromTicks(9_999) });
        Assert.Throws<ArgumentOutOfRangeException>(() => new PublishOptions { TimeToLive = TimeSpan.Zero });
        Assert.Throws<ArgumentOutOfRangeException>(() => new ProducerOptions { TimeToLive = Timeout.InfiniteTimeSpan });
    }

    [Fact]
    public async Task An_expired_batch_is_a_gap_is_counted_and_is_settled()
    {
        using var broker = new FakeBroker();
        var time = new ManualTime();
        await using var client = new LightQClient(broker.Options with { TimeProvider = time });
        var gaps = new List<MessageGap>();
        var options = new ConsumeOptions
        {
            OnGap = gaps.Add,
            GapAction = GapAction.Throw,
            SettleMode = SettleMode.Explicit,
        };
        await using var messages = client.ConsumeAsync("orders", options, Cancel).GetAsyncEnumerator(Cancel);
        ValueTask<bool> moved = messages.MoveNextAsync();
        // The broker's clock is another one.
        long now = UnixMicroseconds.From(time.GetUtcNow()) - 3_600_000_000;
        using FakeConnection connection = await broker.AcceptAsync(time: now);
        (FakeFrame subscribe, _) = await connection.SubscribeAsync();
        await connection.DeliverAsync(
            subscribe.Header.Stream,
            Expiring(0, now + 1, "soon"),
            Expiring(1, now, "a", "b"),
            Expiring(3, now - 1, "c"),
            Expiring(4, 0, "never")
        );
        Assert.True(await moved);
        Assert.Equal("soon", messages.Current.GetText());
        Assert.True(await messages.MoveNextAsync());
        Assert.Equal("never", messages.Current.GetText());

        Assert.Equal([new("orders", 1, 2, GapReason.Expired), new("orders", 3, 3, GapReason.Expired)], gaps);
        Assert.Equal(3, client.MessagesExpired);
        time.Advance(TimeSpan.FromMilliseconds(20));
        SettleRange settled = Assert.Single(Ranges(await connection.ReadAsync(FrameType.Settle)));
        Assert.Equal((SettleKind.Complete, 1L, 3u), (settled.Kind, settled.FirstOffset, settled.Count));
    }

    [Fact]
    public async Task Without_the_brokers_time_nothing_expires_and_a_ping_may_tell_it()
    {
        using var broker = new FakeBroker();
        var time = new ManualTime();
        await using var client = new LightQClient(broker.Options with { TimeProvider = time });
        await using var messages = client.ConsumeAsync("orders", cancellationToken: Cancel).GetAsyncEnumerator(Cancel);
        Task<bool> moved = messages.MoveNextAsync().AsTask();
        using FakeConnection connection = await broker.AcceptAsync();
        (FakeFrame subscribe, _) = await connection.SubscribeAsync();
        await connection.DeliverAsync(subscribe.Header.Stream, Expiring(0, 2_000_001, "old"));
        Assert.True(await moved);
        Assert.Equal("old", messages.Current.GetText());
        moved = messages.MoveNextAsync().AsTask();
        await connection.WriteAsync(new PingFrame(7, 5_000_000), 0, 0);
        await connection.DeliverAsync(
            subscribe.Header.Stream,
            Expiring(1, 5_000_000, "expired"),
            Expiring(2, 5_000_001, "young")
        );
        Assert.True(await moved);
        Assert.Equal("young", messages.Current.GetText());
    }

    private static SettleRange[] Ranges(FakeFrame frame)
    {
        var settle = new SettleFrame(frame.Body);
        var ranges = new SettleRange[settle.Count];
        for (int i = 0; i < ranges.Length; i++)
            ranges[i] = settle[i];
        return ranges;
    }

    private static byte[] Expiring(long offset, long expiresAt, params string[] texts)
    {
        var properties = new BatchProperties(0, expiresAt);
        var plain = new BatchView(FakeConnection.Batch(offset, [.. texts.Select(System.Text.Encoding.UTF8.GetBytes)]));
        byte[] batch = new byte[BatchLayout.Align(properties.HeaderLength + plain.UncompressedLength)];
        plain.Payload[..plain.UncompressedLength].CopyTo(batch.AsSpan(properties.HeaderLength));
        BatchWriter.Complete(
            batch,
            plain.UncompressedLength,
            texts.Length,
            plain.UncompressedLength,
            BatchCodec.None,
            properties,
            default,
            1_000_000
        );
        BatchWriter.Stamp(batch, new BatchStamp(offset, 2_000_000, 3, 0, 0));
        return batch;
    }
}
