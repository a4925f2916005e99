using System.Globalization;
using LightQ.Broker;
using LightQ.Broker.Subscriptions;
using LightQ.Broker.Topics;
using LightQ.Client;
using LightQ.Protocol;
using LightQ.Protocol.Frames;
using LightQ.Protocol.Records;
using LightQ.Storage.Files;
using Xunit;
using TopicKind = LightQ.Broker.Topics.TopicKind;

namespace LightQ.Tests.Broker.Groups;

public sealed class DeadLetterTests
{
    private static readonly DeliverySettings NoDelay = new()
    {
        RetryDelay = TimeSpan.Zero,
        MaxRetryDelay = TimeSpan.Zero,
    };

    [Fact]
    public async Task A_message_that_is_always_abandoned_goes_to_the_dead_letter_topic_and_the_rest_flows()
    {
        await using GroupHost host = await GroupHost.StartAsync(NoDelay with { MaxDeliveries = 3 });
        Subscription member = host.Join(maxInFlight: 1);
        await host.PublishAsync(4);
        var completed = new List<long>();
        for (int left = 6; left > 0; left--)
        {
            GroupDelivery taken = host.Take(member);
            if (taken.FirstOffset == 1)
            {
                Assert.Equal(SettleOutcome.Done, GroupHost.SettleAll(member, SettleKind.Abandon, taken));
                continue;
            }
            GroupHost.SettleAll(member, SettleKind.Complete, taken);
            completed.Add(taken.FirstOffset);
        }

        Assert.Equal([0, 2, 3], completed);
        (string body, Dictionary<string, string> headers) = Assert.Single(await host.ReadAsync("jobs.dead", 1));
        Assert.Equal("1", body);
        Assert.Equal("delivered 3 times without being completed", headers[DeadLetterHeader.Reason]);
        Assert.Equal(
            ("jobs", "0", "1", "workers", "3"),
            (
                headers[DeadLetterHeader.Topic],
                headers[DeadLetterHeader.Partition],
                headers[DeadLetterHeader.Offset],
                headers[DeadLetterHeader.Group],
                headers[DeadLetterHeader.Deliveries]
            )
        );
        await GroupHost.EventuallyAsync(() => host.Group.Committed == 4);
    }

    [Fact]
    public async Task A_durable_topic_whose_name_leaves_no_room_for_that_of_its_dead_letters_is_refused()
    {
        await using GroupHost host = await GroupHost.OpenAsync();
        var durable = new TopicSettings { Kind = TopicKind.Durable };
        const string Problem =
            "The topic name has 196 characters, and with '.dead' behind it, as its dead-letter topic is called, more "
            + "than a name may have (200); allowed: 195, or set dead_letter_topic.";

        BrokerException refused = Assert.Throws<BrokerException>(() =>
            host.Broker.CreateTopic(new string('a', 196), durable)
        );
        Assert.Equal((ErrorCode.InvalidArgument, Problem), (refused.Code, refused.Message));
        Assert.Throws<BrokerException>(() =>
            host.Broker.CreateTopic(
                new string('a', 196),
                durable with
                {
                    Delivery = new DeliverySettings { MaxDeliveries = 0 },
                }
            )
        );

        host.Broker.CreateTopic(new string('a', 195), durable);
        host.Broker.CreateTopic(
            new string('b', 200),
            durable with
            {
                Delivery = new DeliverySettings { DeadLetterTopic = "graveyard" },
            }
        );
        host.Broker.CreateTopic(new string('c', 200), new TopicSettings());
        // A dead-letter topic, as the broker makes it: nothing is given up there by itself, nor can that be changed
        // without a place for it.
        Topic dead = host.Broker.CreateDeadLetterTopic(
            new string('a', 195) + TopicName.DeadLetterSuffix,
            durable with
            {
                Delivery = new DeliverySettings { MaxDeliveries = 0 },
            }
        );
        await host.Broker.ChangeSettingsAsync(dead, dead.Settings with { RetentionBytes = 1 << 20 });
        TopicSettings nameless = dead.Settings with { Delivery = new DeliverySettings { MaxDeliveries = 3 } };
        await Assert.ThrowsAsync<BrokerException>(() => host.Broker.ChangeSettingsAsync(dead, nameless));
        Assert.Equal((1 << 20, 0), (dead.Settings.RetentionBytes, dead.Settings.Delivery.MaxDeliveries));
        var named = new DeliverySettings { MaxDeliveries = 3, DeadLetterTopic = "graveyard" };
        await host.Broker.ChangeSettingsAsync(dead, dead.Settings with { Delivery = named });
    }

    [Fact]
    public async Task What_is_given_up_with_a_reason_can_be_driven_back_to_its_group()
    {
        await using GroupHost host = await GroupHost.StartAsync();
        Subscription member = host.Join();
        await host.PublishAsync(3);
        GroupDelivery taken = host.Take(member);
        GroupHost.Settle(member, SettleKind.Complete, taken, 2);
        GroupHost.Settle(member, SettleKind.DeadLetter, taken, 0, 2, reason: "no such customer");
        List<(string Body, Dictionary<string, string> Headers)> dead = await host.ReadAsync("jobs.dead", 2);
        Assert.Equal(["0", "1"], dead.Select(d => d.Body));
        Assert.All(dead, d => Assert.Equal("no such customer", d.Headers[DeadLetterHeader.Reason]));
        await GroupHost.EventuallyAsync(() => host.Group.Committed == 3);

        Assert.True(host.Group.Redrive(1));
        Assert.False(host.Group.Redrive(1));
        Assert.False(host.Group.Redrive(3));

        GroupDelivery again = host.Take(member);
        Assert.Equal((1, 1u, 1), ((int)again.FirstOffset, again.Count, (int)again.DeliveryCount));
        GroupHost.SettleAll(member, SettleKind.Complete, again);
        Assert.Equal(3, host.Group.Committed);
    }

    [Fact]
    public async Task A_batch_that_nobody_can_read_is_given_up_as_a_whole_and_holds_up_no_other()
    {
        await using GroupHost host = await GroupHost.StartAsync(NoDelay with { MaxDeliveries = 1 });
        Subscription member = host.Join();
        await host.PublishUnreadableAsync(2);
        await host.PublishAsync(1);
        GroupHost.SettleAll(member, SettleKind.Abandon, host.Take(member));
        GroupHost.SettleAll(member, SettleKind.Abandon, host.Take(member));

        List<(string Body, Dictionary<string, string> Headers)> dead = await host.ReadAsync("jobs.dead", 3);

        Assert.Equal(["0", "1", "2"], dead.Select(d => d.Headers[DeadLetterHeader.Offset]));
        Assert.Equal([true, true, false], dead.Select(d => d.Headers.ContainsKey(DeadLetterHeader.Body)));
        await GroupHost.EventuallyAsync(() => host.Group.Committed == 3);
    }

    [Fact]
    public async Task A_message_too_large_for_the_dead_letter_topic_goes_there_without_its_body_and_holds_up_no_other()
    {
        await using GroupHost host = await GroupHost.OpenAsync();
        host.CreateTopic("small", new DeliverySettings());
        host.Broker.CreateTopic(
            "large",
            new TopicSettings
            {
                Kind = TopicKind.Durable,
                MaxMessageBytes = 128 * 1024,
                Delivery = new DeliverySettings { DeadLetterTopic = "small" },
            }
        );
        await host.PublishAsync("large", 0, 1, bodyBytes: 100_000);
        await host.PublishAsync("large", 0, 1);
        Subscription member = host.Join("large", 0, maxInFlight: 0, consumer: 0);
        for (int i = 0; i < 2; i++)
            GroupHost.Settle(member, SettleKind.DeadLetter, host.Take("large", 0, member), i, reason: "no");

        List<(string Body, Dictionary<string, string> Headers)> dead = await host.ReadAsync("small", 2);

        Assert.Equal(
            [("", "0", "omitted"), ("1", "1", "")],
            dead.Select(d =>
                (d.Body, d.Headers[DeadLetterHeader.Offset], d.Headers.GetValueOrDefault(DeadLetterHeader.Body, ""))
            )
        );
        await GroupHost.EventuallyAsync(() => host.GroupOf("large", 0).Committed == 2);
    }

    [Fact]
    public async Task A_broker_stops_while_the_disk_has_no_room_for_dead_letters_and_none_is_lost()
    {
        const int Messages = 1500;
        await using GroupHost host = await GroupHost.StartAsync();
        host.CreateTopic("jobs.dead", new DeliverySettings());
        Topic dead = host.Broker.GetTopic("jobs.dead");
        Subscription member = host.Join();
        for (int i = 0; i < 3; i++)
            await host.PublishAsync(Messages / 3, bodyBytes: 100);
        GroupDelivery first = host.Take(member);
        GroupHost.Settle(member, SettleKind.DeadLetter, first, 0);
        await host.ReadAsync("jobs.dead", 1);
        int refused = 0;
        host.Files.Before = (operation, path) =>
        {
            // The first segment is there already.
            if (
                operation is not ("allocate" or "rename")
                || !path.Contains($"{dead.Id:N}", StringComparison.OrdinalIgnoreCase)
            )
            {
                return;
            }

            Interlocked.Increment(ref refused);
            throw StorageIOException.DiskFull(path);
        };
        GroupHost.Settle(member, SettleKind.DeadLetter, first, 1, first.Count - 1, reason: new string('r', 1000));
        while (host.Take(member) is { Count: > 0 } taken)
        {
            GroupHost.Settle(
                member,
                SettleKind.DeadLetter,
                taken,
                taken.FirstOffset,
                taken.Count,
                reason: new string('r', 1000)
            );
        }

        await GroupHost.EventuallyAsync(() => Volatile.Read(ref refused) != 0);
        GroupHost.Leave(member);

        await Assert.ThrowsAsync<StorageIOException>(() =>
            host.StopAsync().WaitAsync(TimeSpan.FromSeconds(20), TestContext.Current.CancellationToken)
        );
        host.Files.Before = (_, _) => { };
        await host.OpenBrokerAsync();

        int stored = (int)host.Broker.GetTopic("jobs.dead").Partitions[0].Log.EndOffset;
        Assert.InRange(stored, 1, Messages - 1);
        IEnumerable<long> letters = (await host.ReadAsync("jobs.dead", stored)).Select(d =>
            long.Parse(d.Body, CultureInfo.InvariantCulture)
        );
        Assert.Equal(
            Enumerable.Range(0, Messages).Select(i => (long)i),
            letters.Union(host.TakeAll(host.Join())).Order()
        );
    }

    [Fact]
    public async Task What_another_program_wrote_among_the_letters_is_no_letter()
    {
        await using GroupHost host = await GroupHost.StartAsync();
        host.CreateTopic("jobs.dead", new DeliverySettings());
        await host.PublishMalformedHeadersAsync("jobs.dead");
        Subscription member = host.Join();
        await host.PublishAsync(1);
        GroupHost.Settle(member, SettleKind.DeadLetter, host.Take(member), 0);
        await GroupHost.EventuallyAsync(() => host.Group.Committed == 1);

        (long redriven, long skipped) = await host.Broker.Groups.RedriveAsync(
            host.Broker.GetTopic(GroupHost.TopicName),
            GroupHost.GroupName,
            CancellationToken.None
        );

        Assert.Equal((1, 0), (redriven, skipped));
    }

    [Fact]
    public async Task Dead_letters_of_a_deleted_topic_are_not_driven_back_to_one_of_its_name()
    {
        await using GroupHost host = await GroupHost.OpenAsync();
        for (int life = 1; life <= 2; life++)
        {
            host.CreateTopic("short", new DeliverySettings());
            Subscription member = host.Join("short", 0, maxInFlight: 0, consumer: 0);
            await host.PublishAsync("short", 0, 1);
            GroupDelivery taken = host.Take("short", 0, member);
            GroupHost.SettleAll(member, life == 1 ? SettleKind.DeadLetter : SettleKind.Complete, taken);
            await GroupHost.EventuallyAsync(() => host.GroupOf("short", 0).Committed == 1);
            GroupHost.Leave(member);
            if (life == 1)
                await host.DeleteTopicAsync("short");
        }

        (long redriven, long skipped) = await host.Broker.Groups.RedriveAsync(
            host.Broker.GetTopic("short"),
            GroupHost.GroupName,
            CancellationToken.None
        );

        Assert.Equal((0, 1), (redriven, skipped));
    }

    [Fact]
    public async Task A_dead_letter_topic_that_is_deleted_is_made_again()
    {
        await using GroupHost host = await GroupHost.StartAsync();
        Subscription member = host.Join();
        await host.PublishAsync(2);
        GroupDelivery taken = host.Take(member);
        GroupHost.Settle(member, SettleKind.DeadLetter, taken, 0);
        await host.ReadAsync("jobs.dead", 1);
        await GroupHost.EventuallyAsync(() => host.Group.Committed == 1);
        await host.AdvanceUntilAsync(host.Broker.DeleteTopicAsync("jobs.dead", TestContext.Current.CancellationToken));

        GroupHost.Settle(member, SettleKind.DeadLetter, taken, 1);
        await host.AdvanceUntilAsync(host.ReadAsync("jobs.dead", 1)); // It is tried again after a while.

        Assert.Equal("1", Assert.Single(await host.ReadAsync("jobs.dead", 1)).Body);
        await GroupHost.EventuallyAsync(() => host.Group.Committed == 2);
    }

    [Fact]
    public async Task Dead_letters_larger_than_a_batch_may_be_are_several_batches()
    {
        await using GroupHost host = await GroupHost.StartAsync();
        Subscription member = host.Join();
        await host.PublishAsync(500, bodyBytes: 100);

        GroupHost.Settle(member, SettleKind.DeadLetter, host.Take(member), 0, 500, reason: new string('r', 1000));

        List<(string Body, Dictionary<string, string> Headers)> dead = await host.ReadAsync("jobs.dead", 500);
        Assert.Equal(Enumerable.Range(0, 500).Select(i => $"{i}"), dead.Select(d => d.Body));
    }
}
