using LightQ.Broker.Groups;
using LightQ.Broker.Producers;
using LightQ.Broker.Subscriptions;
using LightQ.Protocol.Frames;
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
        Subscription first = Join(_group), second = Join(_group), broadcast = Subscribe(StartKind.Earliest);
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
        Subscription first = Join(_group), second = Join(_group);
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

        using (LightQ.Broker.Scheduling.TurnScope.Enter())
            member.Release();

        Assert.Equal(18, Log.EndOffset);
    }
}
