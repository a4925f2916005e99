using LightQ.Broker.Groups;
using LightQ.Broker.Producers;
using LightQ.Broker.Subscriptions;
using LightQ.Client;
using LightQ.Protocol.Frames;
using Xunit;

namespace LightQ.Tests.Broker;

public sealed class SettlementTests : EngineTest
{
    [Fact]
    public void A_message_is_settled_once_in_any_order_and_each_subscription_counts()
    {
        ProducerStream producer = OpenProducer();
        Subscription one = Subscribe(StartKind.Earliest, settle: SettleMode.Explicit);
        Subscription other = Subscribe(StartKind.Earliest, settle: SettleMode.Explicit);
        Publish(producer, Batch(0, 6));
        Assert.Equal(6, ReceiveOffsets(one).Count);
        Assert.Equal(6, ReceiveOffsets(other).Count);

        Assert.Equal(SettleOutcome.Done, Complete(one, 3, 2));
        Assert.Equal(SettleOutcome.Done, Complete(one, 0, 1));
        Assert.Equal(SettleOutcome.Unknown, Complete(one, 3, 1));
        Assert.Equal(SettleOutcome.Unknown, Complete(one, 1, 5));
        Assert.Equal(SettleOutcome.Done, Complete(one, 1, 2));
        Assert.Equal(SettleOutcome.Done, Complete(one, 5, 1));
        Assert.Equal(SettleOutcome.Unknown, Complete(one, 0, 6));
        Assert.Equal(6, Partition.Counters.MessagesSettled);

        Assert.Equal(SettleOutcome.Done, Complete(other, 0, 6));
        Assert.Equal(12, Partition.Counters.MessagesSettled);
    }

    [Fact]
    public void What_was_not_sent_cannot_be_settled()
    {
        ProducerStream producer = OpenProducer();
        Subscription subscription = Subscribe(StartKind.Earliest, credit: 0, settle: SettleMode.Explicit);
        Publish(producer, Batch(0, 2));
        Assert.Equal(SettleOutcome.Unknown, Complete(subscription, 0, 1));

        subscription.Grant(1);
        Assert.Equal([0, 1], ReceiveOffsets(subscription));

        Assert.Equal(SettleOutcome.Unknown, Complete(subscription, 0, 3));
        Assert.Equal(SettleOutcome.Unknown, Complete(subscription, 2, 1));
        Assert.Equal(SettleOutcome.Unknown, Complete(subscription, 0, uint.MaxValue));
        Assert.Equal(SettleOutcome.Unknown, Complete(subscription, long.MaxValue, uint.MaxValue));
        Assert.Equal(0, Partition.Counters.MessagesSettled);
        Assert.Equal(SettleOutcome.Done, Complete(subscription, 0, 2));
    }

    [Fact]
    public void What_a_batch_brings_from_before_the_first_wanted_offset_is_not_the_clients_to_settle()
    {
        ProducerStream producer = OpenProducer();
        Publish(producer, Batch(0, 5));
        Subscription subscription = Subscribe(StartKind.Offset, 3, settle: SettleMode.Explicit);
        Assert.Equal(5, ReceiveOffsets(subscription).Count);

        Assert.Equal(SettleOutcome.Unknown, Complete(subscription, 2, 1));
        Assert.Equal(SettleOutcome.Done, Complete(subscription, 3, 2));
    }

    [Theory]
    [InlineData(SettleKind.Abandon, 0)]
    [InlineData(SettleKind.DeadLetter, 0)]
    [InlineData(SettleKind.Renew, 0)]
    [InlineData(SettleKind.Complete, 1)]
    public void A_broadcast_subscription_knows_receipts_only(SettleKind kind, uint deliveryId)
    {
        ProducerStream producer = OpenProducer();
        Subscription subscription = Subscribe(StartKind.Earliest, settle: SettleMode.Explicit);
        Publish(producer, Batch(0, 1));
        Assert.Single(ReceiveOffsets(subscription));

        Assert.Equal(SettleOutcome.Unknown, subscription.Settle(new SettleRange(kind, deliveryId, 0, 1), default));
        Assert.Equal(SettleOutcome.Done, Complete(subscription, 0, 1));
    }

    [Fact]
    public void With_automatic_settlement_there_is_nothing_to_settle()
    {
        ProducerStream producer = OpenProducer();
        Subscription subscription = Subscribe(StartKind.Earliest);
        Subscription member = Join(new AutomaticGroup(Partition, "g", GroupState.None));
        Publish(producer, Batch(0, 1));
        Assert.Single(ReceiveOffsets(subscription));
        Assert.Single(ReceiveOffsets(member));

        Assert.Equal(SettleOutcome.Unknown, Complete(subscription, 0, 1));
        Assert.Equal(SettleOutcome.Unknown, Complete(member, 0, 1));
        Assert.Equal(0, Partition.Counters.MessagesSettled);
    }

    [Fact]
    public void Receipts_with_too_many_holes_end_the_subscription()
    {
        const int Records = 500;
        ProducerStream producer = OpenProducer();
        Subscription subscription = Subscribe(StartKind.Earliest, credit: uint.MaxValue, settle: SettleMode.Explicit);
        long sent = 0;
        while (subscription.CloseRequested is null)
        {
            Assert.True(
                sent <= (2 * UnsettledMessages.MostRanges) + Records,
                $"{sent} messages, every other one settled."
            );
            Assert.True(Publish(producer, Batch((ulong)sent, Records, bodyBytes: 1)));
            foreach (long offset in ReceiveOffsets(subscription))
            {
                if (offset % 2 == 0)
                    Complete(subscription, offset, 1);
            }
            sent += Records;
            _ = Output(producer);
        }
        Assert.Equal(ErrorCode.ResourceExhausted, subscription.CloseRequested.Code);
        Assert.True(sent > 2 * UnsettledMessages.MostRanges);
    }

    [Fact]
    public void Gaps_without_receipts_end_the_subscription_too()
    {
        ProducerStream producer = OpenProducer();
        Subscription subscription = Subscribe(
            StartKind.Earliest,
            policy: SlowPolicy.DropOldest,
            credit: uint.MaxValue,
            settle: SettleMode.Explicit
        );
        byte[] batch = Batch(0, records: 7, bodyBytes: 1000);
        int pieces = 0;
        while (subscription.CloseRequested is null)
        {
            Assert.True(pieces <= UnsettledMessages.MostRanges, $"{pieces} pieces.");
            for (int published = 0; published <= RingBytes; published += batch.Length)
            {
                Assert.True(Publish(producer, batch));
                _ = Output(producer);
            }
            Assert.Equal(DeliveryResult.Gap, subscription.TryTake(out _));
            Assert.NotEmpty(ReceiveOffsets(subscription));
            pieces++;
        }
        Assert.Equal(ErrorCode.ResourceExhausted, subscription.CloseRequested.Code);
        Assert.Equal(UnsettledMessages.MostRanges + 1, pieces);
    }

    private static SettleOutcome Complete(Subscription subscription, long first, uint count) =>
        subscription.Settle(new SettleRange(SettleKind.Complete, 0, first, count), default);
}
