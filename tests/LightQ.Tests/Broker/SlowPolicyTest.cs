using LightQ.Broker.Producers;
using LightQ.Broker.Subscriptions;
using LightQ.Client;
using LightQ.Protocol.Batches;
using LightQ.Scheduling;
using Xunit;

namespace LightQ.Tests.Broker;

/// <summary>A ring of sixteen batches, and what a subscriber that lags was given, to the offset.</summary>
public abstract class SlowPolicyTest : EngineTest
{
    /// <summary>With a body of so many bytes, sixteen batches are the ring exactly.</summary>
    private protected const int SixteenthOfRing = (RingBytes / 16) - BatchLayout.HeaderSize - 8;

    private ulong _published;
    private ProducerStream? _producer;

    private protected void Publish(int batches, int bodyBytes = SixteenthOfRing, bool waits = false)
    {
        _producer ??= OpenProducer();
        for (int i = 0; i < batches; i++)
        {
            Assert.True(Publish(_producer, Batch(_published++, 1, bodyBytes)));
            Assert.Equal(waits, Output(_producer).Ranges.Length == 0); // Nobody is waited for, unless the test says so.
        }
    }

    private protected static long Next(List<Item> items) => items.Count == 0 ? 0 : items[^1].Last + 1;

    /// <summary>Takes what there is, with the disk's help.</summary>
    /// <param name="subscription">Whose.</param>
    /// <param name="gaps">Why messages may be missing.</param>
    private protected List<Item> Take(Subscription subscription, GapReason gaps = GapReason.Dropped)
    {
        var items = new List<Item>();
        while (TakeOne(subscription, items, gaps: gaps) || Spills.RunOnce())
            continue;
        return items;
    }

    private protected static bool TakeOne(
        Subscription subscription,
        List<Item> items,
        Action<ReadOnlyMemory<byte>>? onRun = null,
        GapReason gaps = GapReason.Dropped
    )
    {
        using (TurnScope.Enter())
        {
            switch (subscription.TryTake(out Delivery delivery))
            {
                case DeliveryResult.Gap:
                    Assert.Equal(gaps, delivery.Gap.Reason);
                    items.Add(new Item(delivery.Gap.FirstOffset, delivery.Gap.LastOffset, true));
                    return true;
                case DeliveryResult.Run:
                    foreach (BatchView batch in new BatchRun(delivery.Run.Memory.Span))
                    {
                        Assert.True(batch.VerifyHeader() && batch.VerifyPayload());
                        items.Add(new Item(batch.BaseOffset, batch.NextOffset - 1, false));
                    }
                    onRun?.Invoke(delivery.Run.Memory);
                    subscription.Sent(delivery.Run);
                    Assert.Equal(Next(items), subscription.NextOffset);
                    return true;
                default:
                    return false;
            }
        }
    }

    /// <summary>Every offset in exactly one item, in order.</summary>
    private protected static void AssertAccounted(List<Item> items, long first, long end)
    {
        foreach (Item item in items)
        {
            Assert.Equal(first, item.First);
            Assert.True(item.Last >= item.First);
            first = item.Last + 1;
        }
        Assert.Equal(end, first);
    }

    /// <summary>What a subscriber was given: a batch's offsets, or a gap's.</summary>
    private protected readonly record struct Item(long First, long Last, bool IsGap);
}
