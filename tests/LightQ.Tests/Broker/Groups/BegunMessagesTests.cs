using LightQ.Broker.Subscriptions;
using LightQ.Broker.Topics;
using LightQ.Client;
using LightQ.Protocol.Frames;
using LightQ.Protocol.Records;
using Xunit;

namespace LightQ.Tests.Broker.Groups;

/// <summary>Members that say what they begin: what counts as a delivery, and what is given alone.</summary>
public sealed class BegunMessagesTests
{
    private static readonly DeliverySettings NoDelay = new()
    {
        RetryDelay = TimeSpan.Zero,
        MaxRetryDelay = TimeSpan.Zero,
    };

    [Fact]
    public async Task A_lost_member_counts_what_it_has_begun_and_one_that_says_nothing_all_that_it_held()
    {
        await using GroupHost host = await GroupHost.StartAsync(NoDelay);
        await host.PublishAsync(100);
        Subscription saying = host.Join(atATime: 1);
        GroupDelivery held = host.Take(saying);
        Begin(saying, held, 70, 2);
        GroupHost.Settle(saying, SettleKind.Complete, held, 71);
        GroupHost.Lose(saying);

        Subscription silent = host.Join();
        Assert.Equal([(0, 70, 1), (70, 1, 2), (72, 28, 1)], TakeAll(host, silent));
        GroupHost.Lose(silent);
        Assert.Equal([(0, 70, 2), (70, 1, 3), (72, 28, 2)], TakeAll(host, host.Join(), completes: true));
    }

    [Fact]
    public async Task A_member_that_leaves_counts_nothing()
    {
        await using GroupHost host = await GroupHost.StartAsync(NoDelay);
        await host.PublishAsync(2);
        Subscription leaving = host.Join(atATime: 1);
        Begin(leaving, host.Take(leaving), 0);
        GroupHost.Leave(leaving);
        Assert.Equal([(0, 1, 1), (1, 1, 1)], TakeAll(host, host.Join(atATime: 1)));
    }

    [Fact]
    public async Task A_lock_that_runs_out_counts_what_is_begun_and_the_rest_is_there_at_once()
    {
        await using GroupHost host = await GroupHost.StartAsync(new DeliverySettings());
        await host.PublishAsync(3);
        Subscription slow = host.Join(maxInFlight: 3, atATime: 1),
            other = host.Join(atATime: 1);
        GroupDelivery held = host.Take(slow);
        Begin(slow, held, 0);

        host.Time.Advance(TimeSpan.FromSeconds(30));

        Assert.Equal([(1, 2, 1)], TakeAll(host, other));
        host.Time.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal([(0, 1, 2)], TakeAll(host, other));
        Assert.Equal(SettleOutcome.LockExpired, GroupHost.Settle(slow, SettleKind.Begin, held, 1));
    }

    [Fact]
    public async Task Beside_others_no_message_is_given_up_for_lost_connections()
    {
        await using GroupHost host = await GroupHost.StartAsync(NoDelay with { MaxDeliveries = 2 });
        await host.PublishAsync(3);
        await LoseInHandAsync(host, 2, 0, 1, 2);
        Subscription member = host.Join(atATime: 4);
        for (long offset = 0; offset < 3; offset++)
        {
            GroupDelivery alone = host.Take(member);
            Assert.Equal((offset, 1u, 2), (alone.FirstOffset, alone.Count, (int)alone.DeliveryCount));
            if (offset == 1)
                break;
            GroupHost.SettleAll(member, SettleKind.Complete, alone);
        }
        GroupHost.Lose(member);
        await LoseInHandAsync(host, 1, 1);
        Assert.Equal([2], host.TakeAll(host.Join(atATime: 4)));
        Dictionary<string, string> letter = Assert.Single(await host.ReadAsync("jobs.dead", 1)).Headers;
        Assert.Equal("1", letter[DeadLetterHeader.Offset]);
    }

    [Fact]
    public async Task Only_what_is_held_is_begun()
    {
        await using GroupHost host = await GroupHost.StartAsync(NoDelay);
        await host.PublishAsync(2);
        Subscription member = host.Join(atATime: 1);
        GroupDelivery held = host.Take(member);
        GroupHost.Settle(member, SettleKind.Complete, held, 0);
        Assert.Equal(SettleOutcome.Unknown, GroupHost.Settle(member, SettleKind.Begin, held, 0));
        Assert.Equal(SettleOutcome.Unknown, GroupHost.Settle(member, SettleKind.Begin, held, 0, count: 2));
        Assert.Equal(SettleOutcome.Done, GroupHost.Settle(member, SettleKind.Begin, held, 1));
    }

    [Fact]
    public async Task A_member_is_told_what_was_with_one_that_came_to_an_end()
    {
        await using GroupHost host = await GroupHost.StartAsync(NoDelay);
        await host.PublishAsync(3);
        Subscription first = host.Join(maxInFlight: 2, atATime: 1);
        GroupDelivery held = host.Take(first);
        Assert.False(held.IsDoubted);
        Begin(first, held, 0);
        GroupHost.Lose(first);

        Subscription second = host.Join(atATime: 1);
        GroupDelivery[] taken = [host.Take(second), host.Take(second), host.Take(second)];
        Assert.Equal([true, true, false], taken.Select(t => t.IsDoubted));
    }

    [Fact]
    public async Task A_kill_of_the_broker_counts_what_was_begun()
    {
        GroupHost host = await GroupHost.StartAsync(NoDelay);
        string copy;
        await using (host)
        {
            await host.PublishAsync(4);
            Subscription member = host.Join(atATime: 1);
            Begin(member, host.Take(member), 1);
            host.Look();
            copy = host.CopyFiles();
            GroupHost.Leave(member);
        }
        await using GroupHost next = await GroupHost.OpenAsync(copy);
        Subscription after = next.Join(atATime: 1);
        GroupDelivery[] taken = [next.Take(after), next.Take(after), next.Take(after)];
        Assert.Equal(
            [(0, 1u, 1, true), (1, 1u, 2, false), (2, 2u, 1, true)],
            taken.Select(t => ((int)t.FirstOffset, t.Count, (int)t.DeliveryCount, t.IsDoubted))
        );
    }

    [Fact]
    public async Task What_was_in_hand_at_two_deaths_is_given_alone_until_it_is_settled()
    {
        await using GroupHost host = await GroupHost.StartAsync(NoDelay);
        await host.PublishAsync(5);
        await LoseInHandAsync(host, 2, 1, 2);

        Subscription member = host.Join(atATime: 4);
        GroupDelivery first = host.Take(member);
        Assert.Equal((0, 1u), (first.FirstOffset, first.Count)); // Not of those: it holds it now, and gets none of them.
        Assert.Equal(0u, host.Take(member).Count);
        GroupHost.SettleAll(member, SettleKind.Complete, first);
        GroupDelivery alone = host.Take(member);
        Assert.Equal((1L, 1u, 3), (alone.FirstOffset, alone.Count, (int)alone.DeliveryCount));
        Assert.Equal(0u, host.Take(member).Count);
        Assert.Contains(
            host.Broker.Groups.Explain(host.Partition.Topic, GroupHost.GroupName),
            r => r.Text.Contains("works alone", StringComparison.Ordinal)
        );
        GroupHost.SettleAll(member, SettleKind.Complete, alone);
        alone = host.Take(member);
        Assert.Equal((2, 1u), (alone.FirstOffset, alone.Count));
        GroupHost.SettleAll(member, SettleKind.Complete, alone);
        Assert.Equal([3, 4], host.TakeAll(member));
    }

    [Fact]
    public async Task A_member_that_asks_for_more_gets_it_beside_what_it_has_alone()
    {
        await using GroupHost host = await GroupHost.StartAsync(NoDelay);
        await host.PublishAsync(3);
        await LoseInHandAsync(host, 2, 0);
        Subscription member = host.Join(atATime: 1);
        Assert.Equal(0, host.Take(member).FirstOffset);
        Assert.Equal(0u, host.Take(member).Count);
        member.TryResize(new WindowFrame(9, 2));
        Assert.Equal(0u, host.Take(member).Count); // Another window is no question for more.
        member.TryResize(new WindowFrame(9, 2));
        Assert.Equal([1, 2], host.TakeAll(member));
    }

    [Fact]
    public async Task A_member_that_asks_gets_also_what_would_be_alone_itself()
    {
        await using GroupHost host = await GroupHost.StartAsync(NoDelay);
        await host.PublishAsync(4);
        await LoseInHandAsync(host, 2, 0, 1, 2);
        Subscription member = host.Join(maxInFlight: 9, atATime: 2);
        GroupDelivery first = host.Take(member);
        Assert.Equal(0u, host.Take(member).Count);
        member.TryResize(new WindowFrame(9, 2));
        Assert.Equal([1, 2, 3], host.TakeAll(member));

        // Until it holds nothing: then the next is alone again.
        GroupHost.Lose(member);
        member = host.Join(maxInFlight: 9, atATime: 2);
        Assert.Equal(0, host.Take(member).FirstOffset);
        Assert.Equal(0u, host.Take(member).Count);
    }

    [Theory]
    [InlineData(0u)]
    [InlineData(SubscribeFrame.AllAtATime)]
    public async Task A_member_that_cannot_ask_has_a_message_alone_for_a_while(uint atATime)
    {
        await using GroupHost host = await GroupHost.StartAsync(NoDelay);
        await host.PublishAsync(4);
        await LoseInHandAsync(host, 2, 0, 2);
        Subscription member = host.Join(atATime: atATime);
        Assert.Equal((0, 1u), host.Take(member) is var alone ? (alone.FirstOffset, alone.Count) : default);
        host.Time.Advance(TimeSpan.FromSeconds(7));
        Assert.Equal(0u, host.Take(member).Count);
        host.Time.Advance(TimeSpan.FromSeconds(0.5)); // A quarter of its lock.
        Assert.Equal([1, 2, 3], host.TakeAll(member));
    }

    [Theory]
    [InlineData(0u)]
    [InlineData(1u)]
    [InlineData(SubscribeFrame.AllAtATime)]
    public async Task Of_many_messages_only_the_one_that_kills_is_dead_lettered(uint atATime)
    {
        await using GroupHost host = await GroupHost.StartAsync(NoDelay);
        for (int batch = 0; batch < 3; batch++)
            await host.PublishAsync(100);
        int deaths = 0;
        do
        {
            Subscription member = host.Join(maxInFlight: 150, atATime: atATime);
            bool isDead = false;
            while (!isDead && host.Take(member) is { Count: > 0 } taken)
            {
                if (atATime != 0)
                    Begin(member, taken, taken.FirstOffset, atATime == 1 ? 1 : taken.Count);
                isDead = taken.FirstOffset == 0;
                if (!isDead)
                    GroupHost.SettleAll(member, SettleKind.Complete, taken);
            }
            GroupHost.Lose(member);
            deaths += isDead ? 1 : 0;
            if (!isDead)
                await GroupHost.EventuallyAsync(() => host.Group.Figures().DeadLettersWaiting == 0);
        } while (host.Group.Committed < 300);
        Assert.Equal(10, deaths);
        Assert.Equal([(0, 0L)], await host.ReadDeadLettersAsync(GroupHost.TopicName, 1));
    }

    [Fact]
    public async Task A_member_that_never_holds_nothing_gets_what_is_to_be_alone_after_a_while()
    {
        await using GroupHost host = await GroupHost.StartAsync(NoDelay);
        await host.PublishAsync(1);
        Subscription collecting = host.Join(atATime: 1);
        host.Take(collecting);
        await host.PublishAsync(2);
        await LoseInHandAsync(host, 2, 1);
        Assert.Equal(0u, host.Take(collecting).Count);
        host.Time.Advance(TimeSpan.FromSeconds(5));
        Assert.Equal(1, host.Take(collecting).FirstOffset);
        Assert.Equal(0u, host.Take(collecting).Count); // Nothing beside that, unless it asks.
        collecting.TryResize(new WindowFrame(0, 1));
        Assert.Equal(2, host.Take(collecting).FirstOffset);
    }

    [Fact]
    public async Task A_busy_member_leaves_what_is_given_alone_to_an_idle_one_and_goes_on_then()
    {
        await using GroupHost host = await GroupHost.StartAsync(NoDelay);
        await host.PublishAsync(1);
        Subscription busy = host.Join(maxInFlight: 2, atATime: 1);
        host.Take(busy);
        await host.PublishAsync(2);
        await LoseInHandAsync(host, 2, 1);
        Assert.Equal(0u, host.Take(busy).Count);
        Subscription idle = host.Join(atATime: 1);
        Assert.Equal(1, host.Take(idle).FirstOffset);
        Assert.Equal(2, host.Take(busy).FirstOffset);
    }

    [Fact]
    public async Task A_message_is_alone_on_all_partitions_of_a_consumer()
    {
        await using GroupHost host = await GroupHost.OpenAsync();
        host.CreateTopic(GroupHost.TopicName, NoDelay, partitions: 2);
        for (uint partition = 0; partition < 2; partition++)
            await host.PublishAsync(GroupHost.TopicName, partition, 3);
        for (uint consumer = 1; consumer <= 2; consumer++)
        {
            Subscription dying = host.Join(GroupHost.TopicName, 0, 0, consumer, atATime: 4);
            Begin(dying, host.Take(GroupHost.TopicName, 0, dying), 0);
            GroupHost.Lose(dying);
        }
        Subscription zero = host.Join(GroupHost.TopicName, 0, 0, 3, atATime: 4),
            one = host.Join(GroupHost.TopicName, 1, 1, 3, atATime: 4);

        GroupDelivery other = host.Take(GroupHost.TopicName, 1, one);
        Assert.Equal((0, 1u), (other.FirstOffset, other.Count));
        Assert.Equal(0u, host.Take(GroupHost.TopicName, 0, zero).Count); // It holds one of the other partition.
        GroupHost.SettleAll(one, SettleKind.Complete, other);
        Assert.Equal(0u, host.Take(GroupHost.TopicName, 1, one).Count); // And gets no more of that now.
        GroupDelivery alone = host.Take(GroupHost.TopicName, 0, zero);
        Assert.Equal((0, 1u), (alone.FirstOffset, alone.Count));
        Assert.Equal(0u, host.Take(GroupHost.TopicName, 1, one).Count);
        GroupHost.SettleAll(zero, SettleKind.Complete, alone);
        Assert.Equal(1, host.Take(GroupHost.TopicName, 1, one).FirstOffset);
        Assert.Equal([1, 2], host.TakeAll(zero));
    }

    [Fact]
    public async Task The_dead_letter_says_how_often_the_message_was_in_hand_at_a_death()
    {
        await using GroupHost host = await GroupHost.StartAsync(NoDelay with { MaxDeliveries = 3 });
        await host.PublishAsync(2);
        await LoseInHandAsync(host, 1, 1); // Offset 0 waits.
        await LoseInHandAsync(host, 3, 0);
        (_, Dictionary<string, string> headers) = Assert.Single(await host.ReadAsync(GroupHost.TopicName + ".dead", 1));
        Assert.Equal(("0", "3"), (headers[DeadLetterHeader.Offset], headers[DeadLetterHeader.Deliveries]));
        Assert.Equal(
            "delivered 3 times without being completed; the connection was lost 3 times while it was in hand; "
                + "1 more deliveries did not count, it was not begun",
            headers[DeadLetterHeader.Reason]
        );
    }

    /// <summary>Members begin some messages and are lost.</summary>
    private static async Task LoseInHandAsync(GroupHost host, int times, params long[] offsets)
    {
        for (int i = 0; i < times; i++)
        {
            Subscription dying = host.Join(atATime: 4);
            while (host.Take(dying) is { Count: > 0 } taken)
            {
                foreach (long offset in GroupHost.Offsets(taken).Intersect(offsets))
                    Begin(dying, taken, offset);
            }
            GroupHost.Lose(dying);
        }
        await Task.CompletedTask;
    }

    private static void Begin(Subscription member, GroupDelivery held, long first, uint count = 1) =>
        Assert.Equal(SettleOutcome.Done, GroupHost.Settle(member, SettleKind.Begin, held, first, count));

    private static List<(long First, int Count, int Deliveries)> TakeAll(
        GroupHost host,
        Subscription member,
        bool completes = false
    )
    {
        var all = new List<(long, int, int)>();
        while (host.Take(member) is { Count: > 0 } taken)
        {
            all.Add((taken.FirstOffset, (int)taken.Count, taken.DeliveryCount));
            if (completes)
                GroupHost.SettleAll(member, SettleKind.Complete, taken);
        }

        return all;
    }
}
