using LightQ.Broker.Groups;
using LightQ.Broker.Producers;
using LightQ.Broker.Subscriptions;
using LightQ.Protocol.Frames;
using LightQ.Scheduling;
using Xunit;

namespace LightQ.Tests.Broker;

public sealed class GroupTests : EngineTest
{
    private readonly AutomaticGroup _group;

    public GroupTests() => _group = new AutomaticGroup(Partition, "g", GroupState.None);

    [Fact]
    public void Members_share_and_a_broadcast_subscription_beside_them_gets_everything()
    {
        ProducerStream producer = OpenProducer();
        Subscription first = Join(_group),
            second = Join(_group),
            broadcast = Subscribe(StartKind.Earliest);
        var shared = new List<long>();
        for (ulong i = 0; i < 10; i++)
        {
            Publish(producer, Batch(i, 1));
            List<long> got = ReceiveOffsets(i % 2 == 0 ? first : second);
            Assert.Equal([(long)i], got);
            shared.AddRange(got);
        }
        Assert.Equal(ReceiveOffsets(broadcast), shared);
        Assert.Equal(10, _group.Committed);
    }

    [Fact]
    public void A_run_that_was_not_sent_goes_to_another_member_when_its_member_leaves()
    {
        ProducerStream producer = OpenProducer();
        Subscription first = Join(_group),
            second = Join(_group);
        Publish(producer, Batch(0, 3));
        Assert.Equal(DeliveryResult.Run, first.TryTake(out _));
        Publish(producer, Batch(3, 1));
        Assert.Equal([3], ReceiveOffsets(second));
        Assert.Equal(0, _group.Committed);

        first.Release();

        Assert.Equal([0, 1, 2], ReceiveOffsets(second));
        Assert.Equal(4, _group.Committed);
    }

    [Fact]
    public void The_position_is_kept_when_all_members_leave_and_resumed()
    {
        ProducerStream producer = OpenProducer();
        Subscription first = Join(_group);
        Publish(producer, Batch(0, 1));
        Assert.Equal([0], ReceiveOffsets(first));
        first.Release();
        Publish(producer, Batch(1, 1));

        Assert.Equal([1], ReceiveOffsets(Join(_group, StartKind.Committed)));
    }

    [Theory]
    [InlineData(StartKind.Earliest)]
    [InlineData(StartKind.Latest)]
    [InlineData(StartKind.Offset)]
    [InlineData(StartKind.Timestamp)]
    public void A_group_that_has_a_position_goes_on_there_wherever_a_member_wants_to_begin(StartKind start)
    {
        ProducerStream producer = OpenProducer();
        Subscription first = Join(_group);
        Publish(producer, [.. Batch(0, 1), .. Batch(1, 1)]);
        Assert.Equal([0, 1], ReceiveOffsets(first));
        first.Release();
        Publish(producer, Batch(2, 1));

        Assert.Equal([2], ReceiveOffsets(Join(_group, start)));
    }

    [Theory]
    [InlineData(StartKind.Earliest, 0)]
    [InlineData(StartKind.Committed, 0)]
    [InlineData(StartKind.Latest, 1)]
    public void A_new_group_begins_where_its_first_member_says(StartKind start, long expected)
    {
        ProducerStream producer = OpenProducer();
        Publish(producer, Batch(0, 1));
        Subscription member = Join(_group, start);
        Publish(producer, Batch(1, 1));

        Assert.Equal(expected, ReceiveOffsets(member)[0]);
    }

    [Fact]
    public void A_group_holds_the_ring_only_while_it_has_members()
    {
        ProducerStream producer = OpenProducer();
        Subscription member = Join(_group);
        for (ulong i = 0; i < 18; i++)
        {
            Publish(producer, Batch(i, 1, 4000));
            Output(producer);
        }
        Assert.True(Log.EndOffset < 18);

        using (TurnScope.Enter())
            member.Release();

        Assert.Equal(18, Log.EndOffset);
    }

    [Fact]
    public async Task A_ring_s_group_knows_what_it_lags_and_how_old_the_first_of_it_is_with_members_and_without()
    {
        ProducerStream producer = OpenProducer();
        Subscription member = Join(_group);
        Publish(producer, Batch(0, 1));
        Assert.Equal([0], ReceiveOffsets(member));
        Assert.Equal((0, TimeSpan.Zero), (_group.Figures().Lag, await AgeAsync()));

        Publish(producer, Batch(1, 2));
        Time.Advance(TimeSpan.FromSeconds(5));
        Publish(producer, Batch(3, 1));
        Assert.Equal((3, TimeSpan.FromSeconds(5)), (_group.Figures().Lag, await AgeAsync()));
        Assert.Equal(DeliveryResult.Run, member.TryTake(out _)); // Taken and not sent.
        Assert.Equal((3, 3), (_group.Figures().Lag, _group.Figures().InFlight));
        Assert.Equal(TimeSpan.FromSeconds(5), await AgeAsync());
        member.Release();
        Assert.Equal((3, TimeSpan.FromSeconds(5)), (_group.Figures().Lag, await AgeAsync()));
        Assert.Equal(new GroupCounts(4, 0, 0), _group.Figures().Counts);

        Subscription next = Join(_group);
        Assert.Equal([1, 2, 3], ReceiveOffsets(next));
        Assert.Equal((0, TimeSpan.Zero), (_group.Figures().Lag, await AgeAsync()));
        next.Release();
        for (ulong i = 4; i < 400; i++)
        {
            Publish(producer, Batch(i, 1, 1000)); // Nobody holds the ring: it overwrites.
            Output(producer); // Its window is open again.
        }
        Assert.InRange(Log.StartOffset, 100, 399);
        Assert.Equal((Log.EndOffset - Log.StartOffset, TimeSpan.Zero), (_group.Figures().Lag, await AgeAsync()));
    }

    private ValueTask<TimeSpan?> AgeAsync() => _group.ReadOldestAgeAsync(TestContext.Current.CancellationToken);

    [Fact]
    public void A_run_that_comes_again_counts_as_redelivered()
    {
        ProducerStream producer = OpenProducer();
        Subscription first = Join(_group),
            second = Join(_group);
        Publish(producer, Batch(0, 3));
        Assert.Equal(DeliveryResult.Run, first.TryTake(out _));
        first.Release();
        Assert.Equal([0, 1, 2], ReceiveOffsets(second));

        Assert.Equal(new GroupCounts(6, 3, 0), _group.Figures().Counts);
    }
}
