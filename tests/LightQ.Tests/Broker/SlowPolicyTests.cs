using LightQ.Broker.Subscriptions;
using LightQ.Client;
using LightQ.Protocol.Frames;
using Xunit;

namespace LightQ.Tests.Broker;

/// <summary>
/// A subscriber that stops, under each policy that does not hold up producers. What of it goes to disk is in
/// <see cref="SpillTests"/>.
/// </summary>
public sealed class SlowPolicyTests : SlowPolicyTest
{
    [Theory]
    [InlineData(SlowPolicy.DropOldest)]
    [InlineData(SlowPolicy.DropNewest)]
    [InlineData(SlowPolicy.Disconnect)]
    [InlineData(SlowPolicy.SpillToDisk)]
    public void A_ring_that_is_full_to_the_last_byte_holds_everything_and_one_batch_more_makes_the_policy_act(
        SlowPolicy policy
    )
    {
        Subscription subscription = Subscribe(StartKind.Earliest, policy: policy);
        Publish(16);
        Assert.Null(subscription.CloseRequested);
        Assert.Equal(0, subscription.KeptBytes);
        Assert.Equal(0, Log.StartOffset);

        Publish(1);

        Assert.Equal(policy is SlowPolicy.DropNewest or SlowPolicy.SpillToDisk, subscription.KeptBytes > 0);
        Assert.Equal(policy == SlowPolicy.Disconnect, subscription.CloseRequested is not null);
        Assert.NotEqual(0, Log.StartOffset);
        if (policy == SlowPolicy.Disconnect)
            return;
        List<Item> items = Take(subscription);
        AssertAccounted(items, 0, 17);
        Assert.Equal(policy == SlowPolicy.SpillToDisk, items.All(i => !i.IsGap));
    }

    [Theory]
    [InlineData(SlowPolicy.DropOldest)]
    [InlineData(SlowPolicy.DropNewest)]
    [InlineData(SlowPolicy.SpillToDisk)]
    public void However_a_subscriber_lags_every_message_is_delivered_or_in_one_gap(SlowPolicy policy)
    {
        int seed = Environment.TickCount;
        var random = new Random(seed);
        Subscription subscription = Subscribe(StartKind.Earliest, policy: policy, credit: uint.MaxValue);
        var items = new List<Item>();
        for (int round = 0; round < 300; round++)
        {
            int count = random.Next(1, 30);
            for (int i = 0; i < count; i++)
                Publish(1, random.Next(0, 1000) * 8);
            for (int i = random.Next(4); i > 0; i--)
                Spills.RunOnce();
            for (int i = random.Next(6); i > 0; i--)
                TakeOne(subscription, items);
        }
        items.AddRange(Take(subscription));
        Publish(1);
        items.AddRange(Take(subscription));

        TestContext.Current.TestOutputHelper?.WriteLine($"seed {seed}");
        AssertAccounted(items, 0, Log.EndOffset);
        Assert.Equal(items.Where(i => i.IsGap).Sum(i => i.Last - i.First + 1), subscription.Drops);
        Assert.Equal(Partition.Counters.Drops, subscription.Drops);
        Assert.Equal(policy == SlowPolicy.SpillToDisk, subscription.Drops == 0);
        Assert.Null(subscription.CloseRequested);
        Assert.Equal(0, subscription.KeptBytes);
        subscription.Release();
        while (Spills.RunOnce())
            continue;
        Assert.Equal(0, Spills.Memory.Used);
    }

    [Fact]
    public void DropNewest_keeps_what_the_ring_held_drops_what_comes_until_that_is_sent_and_goes_on_with_what_comes_next()
    {
        Subscription subscription = Subscribe(StartKind.Earliest, policy: SlowPolicy.DropNewest);
        Publish(40);
        var items = new List<Item>();
        TakeOne(subscription, items);
        Publish(10); // It has room again, but is still behind what it kept.
        items.AddRange(Take(subscription));
        Publish(3);
        items.AddRange(Take(subscription));

        Assert.Equal(
            [
                .. Enumerable.Range(0, 16).Select(i => new Item(i, i, false)),
                new Item(16, 49, true),
                .. Enumerable.Range(50, 3).Select(i => new Item(i, i, false)),
            ],
            Single(items)
        );
        Assert.Equal(34, subscription.Drops);
        Assert.Equal(1, Partition.Counters.Gaps);
        Assert.Equal(0, Spills.Memory.Used);
        Assert.Empty(SpillFiles);
    }

    [Fact]
    public void DropNewest_keeps_less_when_there_is_no_memory_for_it_and_says_so()
    {
        Spills.Dispose();
        Spills = OpenSpills(new() { MaxMemoryBytes = RingBytes / 2 });
        Subscription subscription = Subscribe(StartKind.Earliest, policy: SlowPolicy.DropNewest);

        Publish(100);
        List<Item> items = Take(subscription);

        AssertAccounted(items, 0, 100);
        Assert.Equal(8, items[^1].First);
        Assert.True(items[^1].IsGap);
    }

    [Fact]
    public void DropNewest_without_a_message_lost_is_no_gap()
    {
        Subscription blocking = Subscribe(StartKind.Earliest);
        Subscription subscription = Subscribe(StartKind.Earliest, policy: SlowPolicy.DropNewest);
        Publish(16);
        Publish(1, waits: true); // The ring asks for room, but another subscription holds it.
        Assert.Equal(16, Log.EndOffset);
        Assert.Equal(Enumerable.Range(0, 16).Select(i => new Item(i, i, false)), Single(Take(subscription)));

        Take(blocking);

        Assert.Equal(17, Log.EndOffset);
        Assert.Equal([new Item(16, 16, false)], Single(Take(subscription)));
        Assert.Equal(0, Partition.Counters.Gaps);
    }

    [Fact]
    public void Disconnect_ends_the_subscription_says_what_it_has_not_got_and_lets_producers_go_on()
    {
        Subscription subscription = Subscribe(StartKind.Earliest, policy: SlowPolicy.Disconnect);
        Publish(2);
        Take(subscription);
        Publish(40);

        Assert.Equal(ErrorCode.SlowConsumer, subscription.CloseRequested?.Code);
        Assert.Contains("messages 2 to 17 ", subscription.CloseRequested!.Message, StringComparison.Ordinal);
        Assert.Null(Receive(subscription));
        Assert.Equal(42, Log.EndOffset);
    }

    [Fact]
    public void A_subscription_that_ends_before_it_is_open_gets_no_turn_before()
    {
        Publish(16);
        var request = new SubscribeFrame(
            "test",
            0,
            "",
            StartKind.Earliest,
            0,
            -1,
            0,
            0,
            SettleMode.Automatic,
            SlowPolicy.Disconnect,
            0
        );
        var subscription = new BroadcastSubscription(this, 1, Partition, request, SlowPolicy.Disconnect, Spills);
        Publish(1);
        Assert.NotNull(subscription.CloseRequested);
        while (TakeTurn())
            continue; // The producer's.
        subscription.Schedule();
        Assert.False(TakeTurn());

        subscription.Opened();

        Assert.True(TakeTurn());
    }

    [Fact]
    public void A_blocking_subscription_may_name_its_own_time_out()
    {
        Subscription patient = Subscribe(StartKind.Earliest),
            impatient = Subscribe(StartKind.Earliest);
        impatient.SlowTimeout = TimeSpan.FromSeconds(2);
        Publish(16);
        Publish(1, waits: true);
        Look();
        Time.Advance(TimeSpan.FromSeconds(2));
        Look();
        Assert.Equal(ErrorCode.SlowConsumer, impatient.CloseRequested?.Code);
        Assert.Contains("for 2 s", impatient.CloseRequested!.Message, StringComparison.Ordinal);
        Assert.Contains("messages 0 to 15 ", impatient.CloseRequested!.Message, StringComparison.Ordinal);
        Assert.Null(patient.CloseRequested);
        Time.Advance(TimeSpan.FromSeconds(8));
        Look();
        Assert.NotNull(patient.CloseRequested);
    }

    [Theory]
    [InlineData(SlowPolicy.DropNewest)]
    [InlineData(SlowPolicy.SpillToDisk)]
    [InlineData(SlowPolicy.DropOldest)]
    public async Task Publishing_and_reading_at_the_same_time_loses_and_repeats_nothing(SlowPolicy policy)
    {
        Spills.Dispose();
        Spills = OpenSpills(new(), ownThread: true);
        Subscription subscription = Subscribe(StartKind.Earliest, policy: policy, credit: uint.MaxValue);
        Publish(2_000, 400); // More than the ring holds: however the threads run, something has to give way.
        Task publishing = Task.Run(() => Publish(18_000, 400), TestContext.Current.CancellationToken);
        var items = new List<Item>();
        while (!publishing.IsCompleted)
        {
            for (int i = 0; i < 100; i++)
                TakeOne(subscription, items);
            await Task.Yield();
        }
        await publishing;
        while (Next(items) < Log.EndOffset)
        {
            Assert.Null(subscription.CloseRequested);
            if (!TakeOne(subscription, items))
                await Task.Delay(1, TestContext.Current.CancellationToken);
        }

        AssertAccounted(items, 0, 20_000);
        Assert.Equal(policy == SlowPolicy.SpillToDisk, items.All(i => !i.IsGap));
        subscription.Release();
    }

    private static IEnumerable<Item> Single(List<Item> items) =>
        items.SelectMany(i =>
            i.IsGap
                ? [i]
                : Enumerable.Range((int)i.First, (int)(i.Last - i.First + 1)).Select(o => new Item(o, o, false))
        );

    private void Look() =>
        Partition.Look(Time.GetTimestamp(), TimeSpan.FromSeconds(10), TimeSpan.FromMinutes(5), TimeSpan.FromHours(24));
}
