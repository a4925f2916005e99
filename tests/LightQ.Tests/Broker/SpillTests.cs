using LightQ.Broker.Subscriptions;
using LightQ.Client;
using LightQ.Protocol.Frames;
using LightQ.Storage.Files;
using LightQ.Storage.Spilling;
using Xunit;

namespace LightQ.Tests.Broker;

/// <summary>A backlog on the disk: whole and in order, or the subscription ends, and nothing of it stays.</summary>
public sealed class SpillTests : SlowPolicyTest
{
    private static readonly SpillOptions SmallFiles = new() { FileBytes = RingBytes };

    [Fact]
    public void A_spilled_backlog_comes_back_byte_for_byte_and_goes_on_in_the_ring_where_the_files_end()
    {
        Open(SmallFiles);
        var expected = new List<byte>();
        var found = new List<byte>();
        Subscription fast = Subscribe(StartKind.Earliest),
            slow = Subscribe(StartKind.Earliest, policy: SlowPolicy.SpillToDisk);
        for (int i = 0; i < 200; i++)
        {
            Publish(1);
            TakeOne(fast, [], run => expected.AddRange(run.Span));
            Pump();
        }
        Assert.Equal(0, Spills.Memory.Used);
        Assert.True(SpillFiles.Length > 1);
        Assert.Equal(slow.KeptBytes, SpillFiles.Sum(f => new FileInfo(f).Length));
        Assert.Equal(184 * (RingBytes / 16), slow.KeptBytes);

        var items = new List<Item>();
        while (TakeOne(slow, items, run => found.AddRange(run.Span)) || Spills.RunOnce())
            continue;
        Publish(5);
        TakeOne(fast, [], run => expected.AddRange(run.Span));
        TakeOne(slow, items, run => found.AddRange(run.Span));

        AssertAccounted(items, 0, 205);
        Assert.Equal(expected, found);
        Assert.Empty(SpillFiles);
        Assert.Equal((0, 0), (slow.KeptBytes, Spills.Bytes));
    }

    [Fact]
    public void What_is_read_before_the_disk_has_it_never_gets_there()
    {
        Subscription slow = Subscribe(StartKind.Earliest, policy: SlowPolicy.SpillToDisk);
        Publish(40);
        var items = new List<Item>();
        while (TakeOne(slow, items))
            continue;
        AssertAccounted(items, 0, 40);

        Pump();

        Assert.Empty(SpillFiles);
        Assert.Equal(0, Spills.Memory.Used);
    }

    [Fact]
    public void A_subscriber_that_leaves_in_the_middle_leaves_nothing_behind()
    {
        Open(SmallFiles);
        Subscription slow = Subscribe(StartKind.Earliest, policy: SlowPolicy.SpillToDisk);
        Publish(100);
        Pump();
        Publish(50);
        TakeOne(slow, []); // Has the first read back.
        Assert.NotEmpty(SpillFiles);

        slow.Release();
        Pump();

        Assert.Empty(SpillFiles);
        Assert.Equal((0, 0), (Spills.Bytes, Spills.Memory.Used));
        Publish(20); // Its gate is gone too.
    }

    [Theory]
    [InlineData("full")]
    [InlineData("write")]
    [InlineData("open")]
    public void A_disk_that_takes_nothing_ends_that_subscription_alone(string fault)
    {
        Subscription fast = Subscribe(StartKind.Earliest),
            slow = Subscribe(StartKind.Earliest, policy: SlowPolicy.SpillToDisk);
        if (fault == "full")
            Disk.Free = 1 << 20;
        else
            Disk.Before = FailAt(fault);
        for (int i = 0; i < 17; i++)
        {
            Publish(1);
            Assert.True(TakeOne(fast, []));
        }
        Assert.Null(slow.CloseRequested);
        Pump();
        Assert.Equal(ErrorCode.SlowConsumer, slow.CloseRequested?.Code);
        Assert.Contains(
            fault == "full" ? "No space left" : "Input/output error",
            slow.CloseRequested!.Message,
            StringComparison.Ordinal
        );
        Assert.DoesNotContain("/lightq-spill", slow.CloseRequested.Message, StringComparison.Ordinal);
        Assert.Equal(DeliveryResult.Nothing, slow.TryTake(out _));

        Publish(16);
        Assert.Equal(16, Take(fast).Sum(i => i.Last - i.First + 1));
        Assert.Null(fast.CloseRequested);
        slow.Release();
        Pump();
        Assert.Empty(SpillFiles);
        Assert.Equal((0, 0), (Spills.Bytes, Spills.Memory.Used));
    }

    [Fact]
    public void What_the_disk_gives_back_wrong_is_a_gap_and_the_rest_comes()
    {
        Subscription slow = Subscribe(StartKind.Earliest, policy: SlowPolicy.SpillToDisk);
        Publish(40);
        Pump();
        using (
            FileStream file = File.Open(
                Assert.Single(SpillFiles),
                FileMode.Open,
                FileAccess.ReadWrite,
                FileShare.ReadWrite
            )
        )
        {
            file.Position = 30_000;
            int was = file.ReadByte();
            file.Position = 30_000;
            file.WriteByte((byte)(was ^ 1));
        }

        List<Item> items = Take(slow, GapReason.Corrupt);

        AssertAccounted(items, 0, 40);
        Item gap = Assert.Single(items, item => item.IsGap);
        Assert.InRange(30_000 / (RingBytes / 16), gap.First, gap.Last);
        Assert.Null(slow.CloseRequested);
        Publish(40);
        AssertAccounted(Take(slow), 40, 80);
        slow.Release();
        Pump();
        Assert.Equal((0, 0), (Spills.Bytes, Spills.Memory.Used));
    }

    [Fact]
    public void A_disk_that_does_not_read_ends_the_subscription()
    {
        Subscription slow = Subscribe(StartKind.Earliest, policy: SlowPolicy.SpillToDisk);
        Publish(40);
        Pump();
        Disk.Before = FailAt("read");

        List<Item> items = Take(slow);

        Assert.Equal(ErrorCode.SlowConsumer, slow.CloseRequested?.Code);
        Assert.Contains($"from message {Next(items)} on", slow.CloseRequested!.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_subscription_that_passes_its_bound_is_ended_and_one_beside_it_is_not()
    {
        Open(SmallFiles with { MaxQueueBytes = 4 * RingBytes });
        Subscription slow = Subscribe(StartKind.Earliest, policy: SlowPolicy.SpillToDisk);
        Publish(40);
        Subscription beside = Subscribe(StartKind.Latest, policy: SlowPolicy.SpillToDisk);
        Publish(40);
        Assert.Null(slow.CloseRequested);

        Publish(1);

        Assert.Equal(ErrorCode.SlowConsumer, slow.CloseRequested?.Code);
        Assert.Contains("Broker:SpillBytesPerSubscription", slow.CloseRequested!.Message, StringComparison.Ordinal);
        Assert.Null(beside.CloseRequested);
        AssertAccounted(Take(beside), 40, 81);
    }

    [Fact]
    public void All_subscriptions_together_have_a_bound_too()
    {
        Open(SmallFiles with { MaxBytes = 4 * RingBytes });
        Subscription first = Subscribe(StartKind.Earliest, policy: SlowPolicy.SpillToDisk),
            second = Subscribe(StartKind.Earliest, policy: SlowPolicy.SpillToDisk);
        Publish(60);
        Subscription ended = Assert.Single(new[] { first, second }, s => s.CloseRequested is not null);
        Assert.Contains("(Broker:SpillBytes)", ended.CloseRequested!.Message, StringComparison.Ordinal);
        ended.Release();

        AssertAccounted(Take(ended == first ? second : first), 0, 60);
    }

    [Fact]
    public void Producers_never_wait_for_a_disk_that_is_behind()
    {
        Open(SmallFiles with { MaxMemoryBytes = RingBytes });
        Subscription slow = Subscribe(StartKind.Earliest, policy: SlowPolicy.SpillToDisk);
        Publish(32); // As much again as the ring, all of it in memory.
        Assert.Null(slow.CloseRequested);

        Publish(1);

        Assert.Equal(ErrorCode.SlowConsumer, slow.CloseRequested?.Code);
        Assert.Contains("Broker:BacklogMemoryBytes", slow.CloseRequested!.Message, StringComparison.Ordinal);
        slow.Release();
        Pump();
        Assert.Equal(0, Spills.Memory.Used);
    }

    [Fact]
    public void A_subscriber_that_comes_back_is_told_what_it_left_on_the_disk()
    {
        Subscription slow = Subscribe(StartKind.Earliest, policy: SlowPolicy.SpillToDisk);
        Publish(2);
        Assert.Equal(2, Next(Take(slow)));
        Publish(60);
        Pump();
        slow.Release();
        Pump();

        Subscription again = Subscribe(StartKind.Offset, 2, SlowPolicy.SpillToDisk);

        Assert.Equal(DeliveryResult.Gap, again.TryTake(out Delivery delivery));
        Assert.Equal(
            (2, Log.StartOffset - 1, GapReason.Retention),
            (delivery.Gap.FirstOffset, delivery.Gap.LastOffset, delivery.Gap.Reason)
        );
        AssertAccounted(Take(again), Log.StartOffset, 62);
    }

    [Fact]
    public void Spills_of_a_broker_that_was_killed_are_removed_when_the_next_one_starts()
    {
        Subscription slow = Subscribe(StartKind.Earliest, policy: SlowPolicy.SpillToDisk);
        Publish(60);
        Pump();
        Assert.NotEmpty(SpillFiles);

        using SpillStore next = OpenSpills(new SpillOptions());

        Assert.Empty(SpillFiles);
        slow.Release();
        Pump();
    }

    private static Action<string, string> FailAt(string fault) =>
        (operation, path) =>
        {
            if (operation == fault)
                throw new StorageIOException(operation, path, 5);
        };

    private void Open(SpillOptions options)
    {
        Spills.Dispose();
        Spills = OpenSpills(options);
    }

    private void Pump()
    {
        while (Spills.RunOnce())
            continue;
    }
}
