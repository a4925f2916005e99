using LightQ.Broker.Producers;
using LightQ.Broker.Streams;
using LightQ.Broker.Subscriptions;
using LightQ.Client;
using LightQ.Protocol;
using LightQ.Protocol.Frames;
using Xunit;

namespace LightQ.Tests.Broker;

public sealed class SubscriptionTests : EngineTest
{
    [Fact]
    public void Nothing_comes_without_credit_and_a_run_may_take_it_below_zero()
    {
        ProducerStream producer = OpenProducer();
        Subscription subscription = Subscribe(StartKind.Earliest, credit: 0);
        Publish(producer, Batch(0, 1));
        Assert.Null(Receive(subscription));

        subscription.Grant(1);

        Assert.NotNull(Receive(subscription));
        Assert.True(subscription.Credit < 0);
        Publish(producer, Batch(1, 1));
        Assert.Null(Receive(subscription));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)] // As of a durable topic: appended, and synced.
    [InlineData(3)]
    public void Each_subscription_is_the_first_to_look_for_a_message_as_often_as_the_others(int wakes)
    {
        const int Messages = 300;
        Subscription[] all = [.. Enumerable.Range(0, 3).Select(_ => Subscribe(StartKind.Latest))];
        while (TakeTurn())
            continue;
        var firsts = new List<OutputStream>();
        for (int i = 0; i < Messages; i++)
        {
            List<OutputStream> turns = [];
            for (int wake = 0; wake < wakes; wake++)
            {
                Partition.Wake();
                turns.Clear();
                while (TakeNextTurn() is { } stream)
                    turns.Add(stream);
            }
            Assert.Equal(all.Length, turns.Distinct().Count());
            firsts.Add(turns[0]);
        }
        Assert.All(all, s => Assert.InRange(firsts.Count(f => f == s), 90, 110));
    }

    [Theory]
    [InlineData(StartKind.Earliest, 0, 0)]
    [InlineData(StartKind.Latest, 0, 10)]
    [InlineData(StartKind.Offset, 4, 4)]
    public void A_subscription_begins_where_it_is_told(StartKind start, long value, long expected)
    {
        ProducerStream producer = OpenProducer();
        for (ulong i = 0; i < 10; i++)
            Publish(producer, Batch(i, 1));
        Subscription subscription = Subscribe(start, value);
        Assert.Equal(expected, subscription.FirstOffset);

        Publish(producer, Batch(10, 1));

        Assert.Equal(expected, ReceiveOffsets(subscription)[0]);
    }

    [Fact]
    public void A_subscription_begins_at_a_time()
    {
        ProducerStream producer = OpenProducer();
        Publish(producer, Batch(0, 1));
        Time.Advance(TimeSpan.FromSeconds(1));
        long time = UnixMicroseconds.From(Time.GetUtcNow());
        Publish(producer, Batch(1, 1));

        Assert.Equal([1], ReceiveOffsets(Subscribe(StartKind.Timestamp, time)));
    }

    [Fact]
    public void An_offset_inside_a_batch_brings_the_whole_batch_and_says_where_to_begin()
    {
        ProducerStream producer = OpenProducer();
        Publish(producer, Batch(0, 5));
        Subscription subscription = Subscribe(StartKind.Offset, 3);
        Assert.Equal(3, subscription.FirstOffset);
        Assert.Equal([0, 1, 2, 3, 4], ReceiveOffsets(subscription));
    }

    [Fact]
    public void An_overwritten_start_offset_gives_a_gap_first()
    {
        ProducerStream producer = OpenProducer();
        for (ulong i = 0; i < 40; i++)
        {
            Publish(producer, Batch(i, 1, 4000));
            Output(producer);
        }
        Subscription subscription = Subscribe(StartKind.Offset, 2);

        Assert.Equal(DeliveryResult.Gap, subscription.TryTake(out Delivery delivery));

        Assert.Equal(
            (2, Log.StartOffset - 1, GapReason.Retention),
            (delivery.Gap.FirstOffset, delivery.Gap.LastOffset, delivery.Gap.Reason)
        );
        Assert.Equal(Log.StartOffset, ReceiveOffsets(subscription)[0]);
    }

    [Fact]
    public void DropOldest_loses_the_oldest_and_says_exactly_which()
    {
        ProducerStream producer = OpenProducer();
        Subscription subscription = Subscribe(StartKind.Earliest, policy: SlowPolicy.DropOldest);
        for (ulong i = 0; i < 40; i++)
        {
            Assert.True(Publish(producer, Batch(i, 1, 4000)));
            Output(producer);
        }

        Assert.Equal(DeliveryResult.Gap, subscription.TryTake(out Delivery delivery));
        List<long> offsets = ReceiveOffsets(subscription);

        Assert.Equal((0L, GapReason.Dropped), (delivery.Gap.FirstOffset, delivery.Gap.Reason));
        Assert.Equal(
            Enumerable.Range((int)delivery.Gap.LastOffset + 1, 39 - (int)delivery.Gap.LastOffset).Select(i => (long)i),
            offsets
        );
        Assert.Equal(delivery.Gap.LastOffset + 1, Partition.Counters.Drops);
    }

    [Fact]
    public void A_blocking_subscription_that_stands_still_while_producers_wait_is_ended()
    {
        ProducerStream producer = OpenProducer();
        Subscription subscription = Subscribe(StartKind.Earliest);
        for (ulong i = 0; i < 18; i++)
        {
            Publish(producer, Batch(i, 1, 4000));
            Output(producer);
        }
        Look();
        Time.Advance(TimeSpan.FromSeconds(9));
        Look();
        Assert.Null(subscription.CloseRequested);

        Time.Advance(TimeSpan.FromSeconds(1));
        Look();

        Assert.Equal(ErrorCode.SlowConsumer, subscription.CloseRequested?.Code);
    }

    [Fact]
    public void A_blocking_subscription_may_stand_still_while_nobody_waits()
    {
        ProducerStream producer = OpenProducer();
        Subscription subscription = Subscribe(StartKind.Earliest);
        Publish(producer, Batch(0, 1));
        Look();
        Time.Advance(TimeSpan.FromMinutes(1));
        Look();
        Assert.Null(subscription.CloseRequested);
    }

    [Fact]
    public async Task A_ring_at_rest_gives_its_memory_back()
    {
        ProducerStream producer = OpenProducer();
        Publish(producer, Batch(0, 1));
        Assert.NotEqual(0, Log.StoredBytes);
        producer.Release();
        Look();
        Time.Advance(TimeSpan.FromMinutes(5));
        Look();
        Assert.Equal(0, Log.StoredBytes);
        Assert.Equal(1, Log.EndOffset);
        await DisposeAsync();
    }

    private void Look() =>
        Partition.Look(Time.GetTimestamp(), TimeSpan.FromSeconds(10), TimeSpan.FromMinutes(5), TimeSpan.FromHours(24));
}
