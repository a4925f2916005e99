using LightQ.Broker.Replication;
using LightQ.Client;
using LightQ.IntegrationTests;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.ClusterTests.Log;

/// <summary>What a partition remembers, when another broker with a disk of its own takes over.</summary>
public sealed class FailoverTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    public async Task What_a_group_has_settled_out_of_order_is_not_redelivered_and_the_rest_is_with_its_count()
    {
        await using FailoverHost host = await FailoverHost.StartAsync();
        await host.PublishAsync(first: 0, count: 10);
        await host.WorkAsync("billing", 10, number => number % 2 == 0);
        await host.StoreAsync();
        await host.FailOverAsync();
        List<(int Number, int Deliveries)> again = await host.WorkAsync("billing", 5, _ => true);
        Assert.Equal([1, 3, 5, 7, 9], again.Select(message => message.Number));
        await host.PublishAsync(first: 10, count: 1);
        Assert.Equal([(10, 1)], await host.WorkAsync("billing", 1, _ => true));
    }

    [Fact]
    public async Task Positions_come_into_the_stream_by_themselves_and_into_each_snapshot()
    {
        await using FailoverHost host = await FailoverHost.StartAsync();
        FaultyStream stream = host.Engine[host.Streams.Single()];
        await host.PublishAsync(first: 0, count: 4);
        Assert.DoesNotContain(stream.Entries, entry => entry.Kind == EntryKind.Positions);
        await host.WorkAsync("billing", 4, _ => true);
        await Eventually.TrueAsync(
            () => host.Topic.Partitions[0].Positions!.TryGetKept("billing", out long kept) && kept == 4,
            Patience,
            () => $"{stream.Entries.Length} entries"
        );
        Assert.Contains(stream.Entries, entry => entry.Kind == EntryKind.Positions);
        await host.HandOverAsync();
        Assert.Equal(
            [EntryKind.Snapshot, EntryKind.Positions, EntryKind.Claim],
            stream.Entries.TakeLast(3).Select(entry => entry.Kind)
        );
        Assert.Equal(4, host.Broker.Groups.Find(host.Topic, "billing").Single().Committed);
        Assert.Equal(0, new StreamChecker(stream.Entries).Void);
    }

    [Fact]
    public async Task A_clean_handover_redelivers_nothing_that_was_settled()
    {
        await using FailoverHost host = await FailoverHost.StartAsync();
        await host.PublishAsync(first: 0, count: 20);
        await host.WorkAsync("billing", 20, number => number != 7);
        await host.HandOverAsync();
        Assert.Equal(7, Assert.Single(await host.WorkAsync("billing", 1, _ => true)).Number);
        await host.PublishAsync(first: 20, count: 1);
        Assert.Equal([(20, 1)], await host.WorkAsync("billing", 1, _ => true));
    }

    [Fact]
    public async Task A_node_that_was_the_owner_once_believes_the_stream_and_not_its_own_disk()
    {
        await using FailoverHost host = await FailoverHost.StartAsync();
        await host.PublishAsync(first: 0, count: 30);
        await host.WorkAsync("billing", 10, _ => true);
        await host.StoreAsync();
        await host.FailOverAsync();
        List<(int Number, int)> second = await host.WorkAsync("billing", 10, _ => true);
        Assert.Equal(Enumerable.Range(10, 10), second.Select(message => message.Number));
        await host.StoreAsync();
        await host.FailOverAsync();
        Assert.Equal(0, host.Owner);
        Assert.Equal(
            Enumerable.Range(20, 10),
            (await host.WorkAsync("billing", 10, _ => true)).Select(message => message.Number)
        );
    }

    [Fact]
    public async Task Pause_reset_and_deletion_are_in_force_on_the_next_node_at_once()
    {
        await using FailoverHost host = await FailoverHost.StartAsync();
        await host.PublishAsync(first: 0, count: 5);
        foreach (string group in (string[])["paused", "reset", "gone"])
        {
            await host.WorkAsync(group, 5, _ => true);
            await Eventually.TrueAsync(
                async () => (await host.Client.Groups.GetAsync("orders", group, Cancelled)).ClientsCount == 0,
                Patience,
                () => $"The member of {group} does not leave"
            );
        }
        await host.StoreAsync();
        await host.Client.Groups.PauseAsync("orders", "paused", Cancelled);
        await host.Client.Groups.ResetAsync("orders", "reset", StartPosition.Earliest, cancellationToken: Cancelled);
        await host.Client.Groups.DeleteAsync("orders", "gone", Cancelled);
        await host.FailOverAsync();
        Assert.Equal(["paused", "reset"], host.Broker.Groups.NamesOf(host.Topic));
        Assert.True(host.Broker.Groups.Find(host.Topic, "paused").Single().IsPaused);
        Assert.Equal(
            Enumerable.Range(0, 5),
            (await host.WorkAsync("reset", 5, _ => true)).Select(message => message.Number)
        );
        await host.Client.Groups.ResumeAsync("orders", "paused", Cancelled);
        await host.PublishAsync(first: 5, count: 1);
        Assert.Equal([(5, 1)], await host.WorkAsync("paused", 1, _ => true));
    }

    [Fact]
    public async Task A_group_that_settles_automatically_goes_on_where_it_was()
    {
        await using FailoverHost host = await FailoverHost.StartAsync();
        await host.PublishAsync(first: 0, count: 5);
        Assert.Equal(Enumerable.Range(0, 5), await ReadAsync(host, 5));
        // What it has read it says when it leaves.
        await Eventually.TrueAsync(
            () => host.Broker.Groups.Find(host.Topic, "mail").Single().Committed == 5,
            Patience,
            () => $"the group is at {host.Broker.Groups.Find(host.Topic, "mail").Single().Committed}"
        );
        await host.StoreAsync();
        await host.FailOverAsync();
        await host.PublishAsync(first: 5, count: 2);
        Assert.Equal([5, 6], await ReadAsync(host, 2));

        static async Task<List<int>> ReadAsync(FailoverHost host, int count)
        {
            List<int> read = [];
            var options = new ConsumeOptions { Group = "mail", Start = StartPosition.Earliest };
            await foreach (Message message in host.Client.ConsumeAsync("orders", options, Cancelled))
            {
                read.Add(BitConverter.ToInt32(message.BodySpan));
                if (read.Count == count)
                    break;
            }
            return read;
        }
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task Ids_producers_and_delays_are_known_on_another_node()
    {
        FaultRun.RequireTier("It waits until a message is due.");
        await using FailoverHost host = await FailoverHost.StartAsync(settings =>
            settings with
            {
                DedupWindow = TimeSpan.FromHours(1),
            }
        );
        await host.PublishAsync(first: 0, count: 3);
        await using (Producer producer = await host.Client.CreateProducerAsync("orders", cancellationToken: Cancelled))
        {
            Assert.False((await PublishAsync(producer, new PublishOptions { MessageId = "a" }, 3)).IsDuplicate);
            await PublishAsync(producer, new PublishOptions { Delay = TimeSpan.FromSeconds(8) }, 4);
        }
        await host.FailOverAsync();
        Assert.Equal(1, host.Topic.Partitions[0].RememberedIds);
        Assert.Equal(1, host.Topic.Partitions[0].DelayedMessages);
        Assert.Single(host.Topic.RememberedProducers());
        await using (Producer producer = await host.Client.CreateProducerAsync("orders", cancellationToken: Cancelled))
            Assert.True((await PublishAsync(producer, new PublishOptions { MessageId = "a" }, 3)).IsDuplicate);
        Assert.Equal(
            Enumerable.Range(0, 5),
            (await host.WorkAsync("billing", 5, _ => true)).Select(message => message.Number)
        );

        static ValueTask<PublishAck> PublishAsync(Producer producer, PublishOptions options, int number) =>
            producer.PublishAsync(BitConverter.GetBytes(number), options, cancellationToken: Cancelled);
    }

    [Fact]
    public async Task Retention_that_waits_for_groups_waits_on_another_node_for_the_groups_it_never_saw()
    {
        await using FailoverHost host = await FailoverHost.StartAsync(settings =>
            settings with
            {
                Retention = Retention.Settled,
            }
        );
        await host.PublishAsync(first: 0, count: 10);
        await host.WorkAsync("fast", 10, _ => true);
        await host.WorkAsync("slow", 4, _ => true);
        await host.StoreAsync();
        Assert.Equal(("slow", 4), HoldOf(host));
        await host.FailOverAsync();
        Assert.Equal(("slow", 4), HoldOf(host));
        await host.WorkAsync("slow", 6, number => number < 8);
        await host.WorkAsync("new", 1, _ => false);
        await host.StoreAsync();
        Assert.Equal(("new", 0), HoldOf(host));
        await host.FailOverAsync(); // The first node has all groups of its first time in memory, and not this one.
        Assert.Equal(("new", 0), HoldOf(host));
        await host.WorkAsync("new", 10, _ => true);
        await host.StoreAsync();
        Assert.Equal(("slow", 8), HoldOf(host));

        static (string, long) HoldOf(FailoverHost host)
        {
            Broker.Groups.RetentionHold hold = host.Broker.Groups.SettledRetention.Find(host.Topic.Partitions[0]);
            return (hold.Group, hold.Offset);
        }
    }

    [Fact]
    public async Task Dead_letters_go_on_when_their_partition_or_that_of_their_originals_was_lost()
    {
        const int Losses = 4;
        await using FailoverHost host = await FailoverHost.StartAsync();
        await KillAsync(host, 0);
        foreach (string name in host.Streams) // Both are lost, and claimed again.
            await StealAsync(host.Engine[name]);
        await KillAsync(host, 1);
        await StealAsync(host.Engine[StreamOf(host, "orders.dead")]);
        await KillAsync(host, 2);
        await host.StoreAsync();
        await host.FailOverAsync();
        await KillAsync(host, 3);

        long letters = host.Broker.GetTopic("orders.dead").Partitions[0].Log.EndOffset;
        Assert.InRange(letters, 4, 4 + Losses);
        List<int> dead = [];
        var fromStart = new ConsumeOptions { Start = StartPosition.Earliest };
        await foreach (Message letter in host.Client.ConsumeAsync("orders.dead", fromStart, Cancelled))
        {
            dead.Add(BitConverter.ToInt32(letter.BodySpan));
            if (dead.Count == letters)
                break;
        }
        Assert.Equal(Enumerable.Range(0, 4), dead.Distinct().Order());
        await host.PublishAsync(first: 4, count: 1);
        Assert.Equal([(4, 1)], await host.WorkAsync("billing", 1, _ => true));

        // A message that is settled when the partition is lost, and not in the stream yet, is redelivered.
        static async Task KillAsync(FailoverHost host, int number)
        {
            await host.PublishAsync(number, count: 1);
            using var done = CancellationTokenSource.CreateLinkedTokenSource(Cancelled);
            Task member = GiveUpAsync(host, done.Token);
            await Eventually.TrueAsync(
                () => Committed(host) == number + 1,
                Patience,
                () => $"{number}: the group is at {Committed(host)}"
            );
            await done.CancelAsync();
            await member;
        }

        static async Task GiveUpAsync(FailoverHost host, CancellationToken done)
        {
            var options = new ConsumeOptions
            {
                Group = "billing",
                Start = StartPosition.Earliest,
                SettleMode = SettleMode.Explicit,
                MaxInFlight = 1,
            };
            try
            {
                await foreach (Message message in host.Client.ConsumeAsync("orders", options, done))
                    await message.DeadLetterAsync("bad", done);
            }
            catch (OperationCanceledException) when (done.IsCancellationRequested)
            {
                // They are given up.
            }
        }

        static long Committed(FailoverHost host) =>
            host.Broker.Groups.NamesOf(host.Topic).Count != 0 && !host.Topic.IsIncomplete
                ? host.Broker.Groups.Find(host.Topic, "billing").Single().Committed
                : -1;

        static string StreamOf(FailoverHost host, string topic) =>
            host.Broker.Options.Replication!.StreamOf(host.Broker.GetTopic(topic).Id, 0);

        static Task StealAsync(FaultyStream stream) =>
            new Takeover(stream.Connect(), new Bystander(), TimeProvider.System).ClaimAsync(
                "another",
                heldTo: 0,
                Cancelled
            );
    }
}
