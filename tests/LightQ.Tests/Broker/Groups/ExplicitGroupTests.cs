using LightQ.Broker;
using LightQ.Broker.Groups;
using LightQ.Broker.Subscriptions;
using LightQ.Broker.Topics;
using LightQ.Client;
using LightQ.Protocol.Frames;
using Xunit;

namespace LightQ.Tests.Broker.Groups;

public sealed class ExplicitGroupTests
{
    private static readonly DeliverySettings NoDelay = new()
    {
        RetryDelay = TimeSpan.Zero,
        MaxRetryDelay = TimeSpan.Zero,
    };

    [Fact]
    public async Task One_batch_is_spread_over_members_with_one_message_in_flight_each_and_sent_to_each_once()
    {
        await using GroupHost host = await GroupHost.StartAsync();
        Subscription[] members = [.. Enumerable.Range(0, 6).Select(_ => host.Join(maxInFlight: 1))];
        await host.PublishAsync(600);

        var taken = new HashSet<long>();
        for (int round = 0; round < 100; round++)
        {
            GroupDelivery[] deliveries = [.. members.Select(host.Take)];
            Assert.All(deliveries, d => Assert.Equal(1u, d.Count));
            Assert.All(deliveries, d => Assert.True(taken.Add(d.FirstOffset)));
            Assert.All(members, m => Assert.Equal(0u, host.Take(m).Count));
            for (int i = 0; i < members.Length; i++)
                Assert.Equal(SettleOutcome.Done, GroupHost.SettleAll(members[i], SettleKind.Complete, deliveries[i]));
        }

        Assert.Equal(600, host.Group.Committed);
        Assert.Equal(600, host.Partition.Counters.MessagesSettled);
    }

    [Fact]
    public async Task What_a_member_returns_goes_to_any_member_at_once_and_was_not_delivered()
    {
        await using GroupHost host = await GroupHost.StartAsync();
        Subscription first = host.Join(maxInFlight: 8);
        Subscription second = host.Join(maxInFlight: 2);
        await host.PublishAsync(20);
        GroupDelivery held = host.Take(first);
        GroupDelivery others = host.Take(second);
        GroupHost.SettleAll(second, SettleKind.Complete, others);

        Assert.Equal(SettleOutcome.Done, GroupHost.Settle(first, SettleKind.Return, held, 2, 6));

        GroupDelivery again = host.Take(second);
        Assert.Equal((2L, 2u, (ushort)1), (again.FirstOffset, again.Count, again.DeliveryCount));
        Assert.Equal(SettleOutcome.Done, GroupHost.Settle(first, SettleKind.Complete, held, 0, 2));
        Assert.Equal(SettleOutcome.Unknown, GroupHost.Settle(first, SettleKind.Complete, held, 2));
    }

    [Fact]
    public async Task A_full_member_that_works_on_one_at_a_time_gets_more_when_half_of_what_waits_is_done()
    {
        await using GroupHost host = await GroupHost.StartAsync();
        Subscription member = host.Join(maxInFlight: 9);
        Assert.True(member.TryResize(new WindowFrame(9, 1)));
        await host.PublishAsync(30);
        GroupDelivery held = host.Take(member);
        Assert.Equal(9u, held.Count);

        for (int settled = 0; settled < 4; settled++)
        {
            Assert.Equal(0u, host.Take(member).Count);
            GroupHost.Settle(member, SettleKind.Complete, held, held.FirstOffset + settled);
        }

        GroupDelivery more = host.Take(member);
        Assert.Equal((9L, 4u), (more.FirstOffset, more.Count));
    }

    [Fact]
    public async Task A_batch_that_a_member_has_is_left_out_of_its_next_delivery()
    {
        await using GroupHost host = await GroupHost.StartAsync();
        Subscription member = host.Join(maxInFlight: 2, credit: 1000);
        await host.PublishAsync(10, bodyBytes: 100);

        GroupDelivery first = host.Take(member, out Delivery whole, out _);
        GroupHost.SettleAll(member, SettleKind.Complete, first);
        long credit = member.Credit;
        member.Grant(2000);
        GroupDelivery second = host.Take(member, out Delivery rest, out _);

        Assert.Equal((0, 2u, 2, 2u), (first.FirstOffset, first.Count, second.FirstOffset, second.Count));
        Assert.False(whole.Run.Memory.IsEmpty);
        Assert.True(rest.Run.Memory.IsEmpty);
        Assert.Equal(credit + 2000, member.Credit);
    }

    [Fact]
    public async Task A_member_that_takes_more_from_now_on_gets_it_and_one_that_takes_less_keeps_what_it_has()
    {
        await using GroupHost host = await GroupHost.StartAsync();
        Subscription member = host.Join(maxInFlight: 2);
        await host.PublishAsync(10);
        Assert.Equal([0, 1], host.TakeAll(member));

        Assert.True(member.TryResize(new WindowFrame(5, 1)));
        GroupDelivery more = host.Take(member);
        Assert.True(member.TryResize(new WindowFrame(3, 1)));
        GroupHost.Settle(member, SettleKind.Complete, more, 2, 2);

        Assert.Equal((2, 3u), (more.FirstOffset, more.Count));
        Assert.Equal(0u, host.Take(member).Count);
        Assert.Equal((3, 3u), (host.Group.Figures().InFlight, host.Group.Figures().Members[0].MaxInFlight));
        Assert.True(member.TryResize(new WindowFrame(0, 1)));
        Assert.Equal([5, 6, 7, 8, 9], host.TakeAll(member));
    }

    [Fact]
    public async Task Only_a_member_that_settles_has_a_window()
    {
        await using GroupHost host = await GroupHost.StartAsync();
        Assert.False(host.Join(mode: SettleMode.Automatic).TryResize(new WindowFrame(5, 1)));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_member_that_leaves_returns_what_it_held_at_once(bool isOrderly)
    {
        await using GroupHost host = await GroupHost.StartAsync();
        Subscription first = host.Join(),
            second = host.Join();
        await host.PublishAsync(5);
        GroupDelivery held = host.Take(first);
        GroupHost.Settle(first, SettleKind.Complete, held, 1, 2);
        Assert.Equal(0u, host.Take(second).Count);

        if (isOrderly)
            GroupHost.Leave(first);
        else
            GroupHost.Lose(first);

        GroupDelivery[] again = [host.Take(second), host.Take(second)];
        Assert.Equal([(0, 1u), (3, 2u)], again.Select(d => (d.FirstOffset, d.Count)));
        Assert.All(again, d => Assert.Equal(isOrderly ? 1 : 2, d.DeliveryCount));
    }

    [Fact]
    public async Task A_lock_that_runs_out_gives_the_messages_to_others_and_its_settlement_is_told()
    {
        await using GroupHost host = await GroupHost.StartAsync(NoDelay);
        Subscription first = host.Join(),
            second = host.Join();
        await host.PublishAsync(2);
        GroupDelivery held = host.Take(first);
        Assert.Equal(30_000u, held.LockMilliseconds);
        host.Time.Advance(TimeSpan.FromSeconds(29));
        Assert.Equal(SettleOutcome.Done, GroupHost.Settle(first, SettleKind.Renew, held, 0));
        host.Time.Advance(TimeSpan.FromSeconds(29));
        Assert.Equal(0u, host.Take(second).Count);
        Assert.Equal(SettleOutcome.Done, GroupHost.Settle(first, SettleKind.Complete, held, 0));

        host.Time.Advance(TimeSpan.FromSeconds(1));

        Assert.Equal(SettleOutcome.LockExpired, GroupHost.Settle(first, SettleKind.Complete, held, 1));
        GroupDelivery again = host.Take(second);
        Assert.Equal((1, 1u, 2), ((int)again.FirstOffset, again.Count, (int)again.DeliveryCount));
        Assert.Equal(SettleOutcome.Done, GroupHost.SettleAll(second, SettleKind.Complete, again));
        Assert.Equal(SettleOutcome.Unknown, GroupHost.SettleAll(second, SettleKind.Complete, again));
        Assert.Equal(2, host.Group.Committed);
    }

    [Fact]
    public async Task What_a_member_hands_back_comes_at_once_and_its_delivery_does_not_count()
    {
        await using GroupHost host = await GroupHost.StartAsync(NoDelay with { MaxDeliveries = 1 });
        Subscription first = host.Join(),
            second = host.Join();
        await host.PublishAsync(5);
        GroupDelivery held = host.Take(first);
        GroupHost.Settle(first, SettleKind.Complete, held, 1);

        first.HandBack(new SettleRange(SettleKind.Abandon, held.DeliveryId, 1, 2)); // Not held as a whole any more.
        Assert.Equal(0u, host.Take(second).Count);
        first.HandBack(new SettleRange(SettleKind.Abandon, held.DeliveryId, 3, 2));

        GroupDelivery again = host.Take(second);
        Assert.Equal((3, 2u, 1), ((int)again.FirstOffset, again.Count, (int)again.DeliveryCount));
        Assert.Equal((2, 2), (first.Held, second.Held));
        host.Time.Advance(TimeSpan.FromSeconds(31));
        first.HandBack(new SettleRange(SettleKind.Abandon, held.DeliveryId, 0, 1));
        Assert.Equal((0, 0), (first.Held, second.Held));
    }

    [Fact]
    public async Task A_member_has_its_locks_for_as_long_as_it_asked_for()
    {
        await using GroupHost host = await GroupHost.StartAsync(
            NoDelay with
            {
                LockDuration = TimeSpan.FromSeconds(30),
            }
        );
        Subscription slow = host.Join(maxInFlight: 2, lockDuration: TimeSpan.FromMinutes(5)),
            quick = host.Join(maxInFlight: 2, lockDuration: TimeSpan.FromSeconds(5)),
            other = host.Join(maxInFlight: 2);
        await host.PublishAsync(6);
        GroupDelivery[] taken = [host.Take(slow), host.Take(quick), host.Take(other)];
        Assert.Equal([300_000u, 5_000u, 30_000u], taken.Select(t => t.LockMilliseconds));

        host.Time.Advance(TimeSpan.FromSeconds(5));
        Assert.Equal(SettleOutcome.LockExpired, GroupHost.SettleAll(quick, SettleKind.Complete, taken[1]));
        Assert.Equal((2, 2), (host.Take(quick) is var second ? second.FirstOffset : -1, (int)second.DeliveryCount));
        host.Time.Advance(TimeSpan.FromSeconds(4));
        Assert.Equal(SettleOutcome.Done, GroupHost.SettleAll(quick, SettleKind.Renew, second));
        host.Time.Advance(TimeSpan.FromSeconds(4));
        Assert.Equal(SettleOutcome.Done, GroupHost.SettleAll(quick, SettleKind.Complete, second));
        host.Time.Advance(TimeSpan.FromSeconds(17));
        Assert.Equal(SettleOutcome.LockExpired, GroupHost.SettleAll(other, SettleKind.Complete, taken[2]));
        host.Time.Advance(TimeSpan.FromMinutes(4));
        Assert.Equal(SettleOutcome.Done, GroupHost.SettleAll(slow, SettleKind.Complete, taken[0]));
    }

    [Theory]
    [InlineData(999)]
    [InlineData(43_200_001)]
    public async Task A_lock_duration_out_of_range_or_without_locks_is_refused(int milliseconds)
    {
        await using GroupHost host = await GroupHost.StartAsync();
        BrokerException refused = Assert.Throws<BrokerException>(() =>
            host.Join(lockDuration: TimeSpan.FromMilliseconds(milliseconds))
        );
        Assert.Equal(ErrorCode.InvalidArgument, refused.Code);
        Assert.Contains($"{milliseconds}", refused.Message, StringComparison.Ordinal);
        Assert.Throws<BrokerException>(() =>
            host.Join(mode: SettleMode.Automatic, lockDuration: TimeSpan.FromSeconds(5))
        );
    }

    [Fact]
    public async Task Abandoned_messages_come_again_after_their_delay_longer_each_time()
    {
        await using GroupHost host = await GroupHost.StartAsync(
            new DeliverySettings { RetryDelay = TimeSpan.FromSeconds(1), MaxRetryDelay = TimeSpan.FromSeconds(3) }
        );
        Subscription member = host.Join();
        await host.PublishAsync(1);
        foreach (int seconds in (int[])[1, 2, 3, 3])
        {
            GroupHost.SettleAll(member, SettleKind.Abandon, host.Take(member));
            host.Time.Advance(TimeSpan.FromSeconds(seconds) - TimeSpan.FromMilliseconds(1));
            Assert.Equal(0u, host.Take(member).Count);
            host.Time.Advance(TimeSpan.FromMilliseconds(1));
        }
        GroupHost.SettleAll(member, SettleKind.Abandon, host.Take(member), delay: 10);
        host.Time.Advance(TimeSpan.FromMilliseconds(10));

        Assert.Equal(6, host.Take(member).DeliveryCount);
    }

    [Fact]
    public async Task A_settlement_of_what_is_not_this_members_changes_nothing()
    {
        await using GroupHost host = await GroupHost.StartAsync();
        Subscription member = host.Join(),
            other = host.Join();
        await host.PublishAsync(100);
        GroupDelivery held = host.Take(member);
        GroupHost.Settle(member, SettleKind.Complete, held, 70, 5);

        Assert.Equal(SettleOutcome.Unknown, GroupHost.Settle(other, SettleKind.Complete, held, 0));
        Assert.Equal(
            SettleOutcome.Unknown,
            GroupHost.Settle(member, SettleKind.Complete, held with { DeliveryId = 99 }, 0)
        );
        Assert.Equal(SettleOutcome.Unknown, GroupHost.Settle(member, SettleKind.Complete, held, 60, 20));
        Assert.Equal(SettleOutcome.Unknown, GroupHost.Settle(member, SettleKind.Complete, held, 99, 2));
        Assert.Equal(SettleOutcome.Unknown, GroupHost.Settle(member, SettleKind.Complete, held, 100));
        Assert.Equal(5, host.Partition.Counters.MessagesSettled);
        Assert.Equal(SettleOutcome.Done, GroupHost.Settle(member, SettleKind.Complete, held, 0, 70));
        Assert.Equal(75, host.Group.Committed);
    }

    [Fact]
    public async Task A_group_whose_members_settle_otherwise_now_is_kept_so_over_a_restart()
    {
        await using GroupHost host = await GroupHost.StartAsync();
        await host.PublishAsync(2);
        Subscription member = host.Join(mode: SettleMode.Automatic, start: StartKind.Earliest);
        GroupHost.Leave(member);
        await host.RestartAsync();
        GroupHost.Leave(host.Join());
        await host.RestartAsync();

        Assert.Equal(
            SettleMode.Explicit,
            Assert
                .Single(host.Broker.Groups.Find(host.Broker.GetTopic(GroupHost.TopicName), GroupHost.GroupName))
                .SettleMode
        );
    }

    [Fact]
    public async Task The_age_of_what_waits_is_read_once_and_not_known_where_that_takes_too_long()
    {
        await using GroupHost host = await GroupHost.StartAsync();
        await host.PublishAsync(2);
        GroupHost.Leave(host.Join());
        host.Time.Advance(TimeSpan.FromMinutes(1));
        var over = new CancellationToken(canceled: true);

        Assert.Null(await host.Group.ReadOldestAgeAsync(over));
        Assert.Equal(
            TimeSpan.FromMinutes(1),
            await host.Group.ReadOldestAgeAsync(TestContext.Current.CancellationToken)
        );
        host.Time.Advance(TimeSpan.FromMinutes(1));
        Assert.Equal(TimeSpan.FromMinutes(2), await host.Group.ReadOldestAgeAsync(over));
    }

    [Fact]
    public async Task Counts_go_on_when_members_settle_otherwise()
    {
        await using GroupHost host = await GroupHost.StartAsync();
        await host.PublishAsync(2);
        Subscription first = host.Join();
        host.Take(first);
        GroupHost.Lose(first);
        Subscription second = host.Join();
        host.Take(second);
        Assert.Equal(new GroupCounts(4, 2, 0), host.Group.Figures().Counts);
        GroupHost.Lose(second);

        Subscription third = host.Join(mode: SettleMode.Automatic);

        Assert.Equal(new GroupCounts(4, 2, 0), Assert.Single(host.Partition.Groups()).Figures().Counts);
        GroupHost.Leave(third);
    }

    [Fact]
    public async Task A_partition_that_moves_to_another_consumer_does_not_wait_for_the_reading_of_the_first()
    {
        await using GroupHost host = await GroupHost.OpenAsync();
        host.CreateTopic("spread", new DeliverySettings(), partitions: 2);
        await host.PublishAsync("spread", 0, 3);
        await host.RestartAsync();
        Subscription first = host.Join("spread", 0, maxInFlight: 0, consumer: 1);
        _ = host.Join("spread", 1, maxInFlight: 0, consumer: 1);
        host.BeginRead("spread", 0, first);
        Subscription second = host.Join("spread", 0, maxInFlight: 0, consumer: 2);
        _ = host.Join("spread", 1, maxInFlight: 0, consumer: 2);

        Assert.Equal(DeliveryResult.Nothing, first.TryTake(out _));

        Assert.Equal((0, 3u), (host.Take("spread", 0, second) is var taken ? taken.FirstOffset : -1, taken.Count));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_consumer_that_subscribes_again_before_its_first_subscription_has_ended_keeps_its_partition(
        bool isFirstToEnd
    )
    {
        await using GroupHost host = await GroupHost.OpenAsync();
        host.CreateTopic("spread", new DeliverySettings(), partitions: 2);
        await host.PublishAsync("spread", 0, 3);
        Subscription first = host.Join("spread", 0, maxInFlight: 0, consumer: 1);
        _ = host.Join("spread", 1, maxInFlight: 0, consumer: 1);
        Subscription again = host.Join("spread", 0, maxInFlight: 0, consumer: 1);

        Assert.Equal(0u, host.Take("spread", 0, again).Count);
        GroupHost.Leave(isFirstToEnd ? first : again);

        Assert.Equal(3u, host.Take("spread", 0, isFirstToEnd ? again : first).Count);
    }

    [Fact]
    public async Task A_member_that_wants_nothing_more_keeps_nobody_waiting_for_what_it_has_begun_to_read()
    {
        await using GroupHost host = await GroupHost.OpenAsync();
        host.CreateTopic("jobs", new DeliverySettings());
        await host.PublishAsync("jobs", 0, 3);
        await host.RestartAsync();
        Subscription first = host.Join("jobs", 0, maxInFlight: 0, consumer: 1),
            second = host.Join("jobs", 0, maxInFlight: 0, consumer: 2);
        host.BeginRead("jobs", 0, first);
        Assert.True(first.IsReading);

        first.Revoke();

        Assert.False(first.IsReading);
        Assert.Equal((0, 3u), (host.Take("jobs", 0, second) is var taken ? taken.FirstOffset : -1, taken.Count));
    }

    [Fact]
    public async Task Neighbours_that_differ_in_nothing_else_are_kept_as_one()
    {
        await using GroupHost host = await GroupHost.StartAsync();
        Subscription member = host.Join(maxInFlight: 1);
        await host.PublishAsync(100);
        for (int i = 0; i < 50; i++)
            GroupHost.SettleAll(member, SettleKind.Abandon, host.Take(member), delay: 60_000);

        Assert.Single(host.Group.Whole().Unsettled!);
    }

    [Fact]
    public async Task What_was_settled_beyond_the_position_stays_settled_over_a_restart_and_delays_hold()
    {
        await using GroupHost host = await GroupHost.StartAsync(
            new DeliverySettings { LockDuration = TimeSpan.FromMinutes(10) }
        );
        Subscription member = host.Join(maxInFlight: 5);
        await host.PublishAsync(3);
        await host.PublishAsync(5);
        GroupDelivery first = host.Take(member),
            second = host.Take(member);
        Assert.Equal((3u, 2u), (first.Count, second.Count));
        GroupHost.Settle(member, SettleKind.Complete, first, 1);
        GroupHost.Settle(member, SettleKind.Complete, second, 4);
        GroupHost.Settle(member, SettleKind.Abandon, first, 2, delay: 60_000);
        GroupHost.Leave(member);
        await host.RestartAsync();

        member = host.Join();
        List<GroupDelivery> taken = [];
        while (host.Take(member) is { Count: > 0 } delivery)
            taken.Add(delivery);
        Assert.Equal(
            [(0, 1u, 1), (3, 1u, 1), (5, 3u, 1)],
            taken.Select(d => (d.FirstOffset, d.Count, (int)d.DeliveryCount))
        );
        host.Time.Advance(TimeSpan.FromMinutes(1));
        Assert.Equal((2, 2), (host.Take(member) is var late ? late.FirstOffset : -1, (int)late.DeliveryCount));
    }

    [Fact]
    public async Task A_paused_group_gets_nothing_until_it_is_resumed_also_after_a_restart()
    {
        await using GroupHost host = await GroupHost.StartAsync();
        Subscription member = host.Join();
        host.Group.SetPaused(true);
        await host.PublishAsync(2);
        Assert.Equal(0u, host.Take(member).Count);
        GroupHost.Leave(member);
        await host.RestartAsync();
        member = host.Join();
        Assert.Equal(0u, host.Take(member).Count);

        host.Group.SetPaused(false);

        Assert.Equal([0, 1], host.TakeAll(member));
    }

    [Fact]
    public async Task A_reset_starts_again_and_takes_back_what_members_hold()
    {
        await using GroupHost host = await GroupHost.StartAsync();
        Subscription member = host.Join();
        await host.PublishAsync(4);
        GroupDelivery held = host.Take(member);
        GroupHost.Settle(member, SettleKind.Complete, held, 0, 3);

        host.Group.Reset(1);

        Assert.Equal(SettleOutcome.LockExpired, GroupHost.Settle(member, SettleKind.Complete, held, 3));
        Assert.Equal([1, 2, 3], host.TakeAll(member));
        Assert.Equal(1, host.Group.Committed);
    }

    [Fact]
    public async Task Members_of_one_group_settle_in_one_way()
    {
        await using GroupHost host = await GroupHost.StartAsync();
        Subscription member = host.Join();
        await host.PublishAsync(3);
        GroupDelivery held = host.Take(member);
        GroupHost.Settle(member, SettleKind.Complete, held, 0);

        Assert.Equal(
            ErrorCode.InvalidArgument,
            Assert.Throws<BrokerException>(() => host.Join(mode: SettleMode.Automatic)).Code
        );
        GroupHost.Leave(member);
        Subscription automatic = host.Join(mode: SettleMode.Automatic);

        Assert.Equal(1, automatic.NextOffset);
    }

    [Fact]
    public async Task Messages_that_the_log_no_longer_holds_are_a_gap_and_settled()
    {
        await using GroupHost host = await GroupHost.StartAsync(NoDelay);
        Subscription member = host.Join(maxInFlight: 2);
        await host.PublishAsync(2);
        await host.PublishAsync(2);
        GroupDelivery held = host.Take(member);
        host.Broker.TruncateTopic(GroupHost.TopicName, 0, 2);
        GroupHost.SettleAll(member, SettleKind.Abandon, held, delay: 1);
        host.Time.Advance(TimeSpan.FromMilliseconds(1));

        // The batch is in the member's hands, so it can have it again; another member cannot.
        GroupHost.Leave(member);
        member = host.Join();
        host.Take(member, out Delivery gap, out DeliveryResult result);
        Assert.Equal(
            (DeliveryResult.Gap, 0, 1, GapReason.Retention),
            (result, gap.Gap.FirstOffset, gap.Gap.LastOffset, gap.Gap.Reason)
        );
        Assert.Equal([2, 3], host.TakeAll(member));
        Assert.Equal(2, host.Group.Committed);
    }
}
