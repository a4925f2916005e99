using System.Collections.Concurrent;
using LightQ.Broker;
using LightQ.Broker.DeadLetters;
using LightQ.Broker.Groups;
using LightQ.Broker.Subscriptions;
using LightQ.Broker.Topics;
using LightQ.Client;
using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Frames;
using LightQ.Protocol.Records;
using LightQ.Storage;
using LightQ.Storage.Files;
using LightQ.Tests.Broker.Groups;
using Xunit;
using Partition = LightQ.Broker.Topics.Partition;

namespace LightQ.Tests.Broker;

/// <summary>
/// Retention until all groups have settled: what goes, what holds it, and that no end of the broker leaves a group
/// behind the log's start.
/// </summary>
public sealed class SettledRetentionTests
{
    private const int Batches = 20,
        BatchMessages = 15,
        Messages = Batches * BatchMessages,
        EIO = 5;
    private static readonly DeliverySettings Patient = new()
    {
        LockDuration = TimeSpan.FromHours(12),
        RetryDelay = TimeSpan.Zero,
    };

    [Fact]
    public async Task Whole_segments_go_when_all_groups_have_settled_them_and_the_slowest_holds()
    {
        await using GroupHost host = await StartAsync();
        Subscription fast = host.Join(),
            slow = host.JoinAs("audit", mode: SettleMode.Automatic);
        await FillAsync(host);
        SettleAll(host, fast);
        Assert.Equal(0, TendedStart(host));
        Assert.Equal(
            (new RetentionHold(0, "audit"), (long)Messages),
            host.Broker.Groups.FindRetentionHold(host.Partition.Topic)
        );

        Drain(host, slow);
        host.Look();
        Assert.InRange(host.Partition.Log.StartOffset, 1, Messages - 1); // The segment that is written to stays.
        Assert.True(
            host.Partition.Log.StoredBytes <= GroupHost.Small.SegmentBytes,
            $"{host.Partition.Log.StoredBytes} bytes stay."
        );
        Assert.Null(host.Broker.Groups.FindRetentionHold(host.Partition.Topic));
        Assert.All(host.Partition.Groups(), g => Assert.Equal(Messages, g.Committed));
    }

    [Fact]
    public async Task What_was_settled_goes_by_itself_and_also_from_a_topic_at_rest()
    {
        await using GroupHost host = await StartAsync();
        await FillAsync(host);
        Subscription member = host.Join();
        GroupDelivery first = host.Take(member);
        SettleAll(host, member);
        for (int look = 0; look < 30; look++)
        {
            host.Time.Advance(TimeSpan.FromSeconds(10));
            host.Look(); // Its checkpoint is written and its files are closed: nothing of it is due any more.
        }
        Assert.Equal(0, host.Partition.Log.StartOffset);
        GroupHost.SettleAll(member, SettleKind.Complete, first);
        await AdvanceAsync(host, () => host.Partition.Log.StartOffset > 0);
    }

    [Fact]
    public async Task Without_a_group_nothing_goes_and_a_new_one_and_a_subscriber_get_what_is_left()
    {
        await using GroupHost host = await StartAsync();
        await FillAsync(host);
        Assert.Equal(0, TendedStart(host));
        Assert.Equal(
            (default(RetentionHold) with { Group = "" }, (long)Messages),
            host.Broker.Groups.FindRetentionHold(host.Partition.Topic)
        );
        Subscription first = host.Join();
        Assert.Equal(0, first.FirstOffset);
        SettleAll(host, first);
        long start = TendedStart(host);
        Assert.True(start > 0);

        Assert.Equal(start, host.JoinAs("new").FirstOffset);
        var broadcast = new SubscribeFrame(
            GroupHost.TopicName,
            0,
            "",
            StartKind.Earliest,
            0,
            -1,
            0,
            0,
            SettleMode.Automatic,
            SlowPolicy.TopicDefault,
            0
        );
        Assert.Equal(start, host.Broker.Subscribe(host, 77, broadcast, out _).FirstOffset);
    }

    [Fact]
    public async Task A_group_that_is_deleted_holds_nothing_any_more()
    {
        await using GroupHost host = await StartAsync();
        GroupHost.Leave(host.JoinAs("gone"));
        Subscription member = host.Join();
        await FillAsync(host);
        SettleAll(host, member);
        Assert.Equal(0, TendedStart(host));
        host.Broker.Groups.Delete(host.Partition.Topic, "gone");
        Assert.True(TendedStart(host) > 0);
    }

    [Fact]
    public async Task A_deleted_group_that_a_start_may_still_find_holds_what_it_had_not_settled()
    {
        await using GroupHost host = await StartAsync();
        GroupHost.Leave(host.JoinAs("gone"));
        Subscription member = host.Join();
        await FillAsync(host);
        SettleAll(host, member);
        host.Look();
        host.Files.Before = RefusePositions;
        Assert.Throws<UnstoredException>(() => host.Broker.Groups.Delete(host.Partition.Topic, "gone"));
        Assert.Equal(0, TendedStart(host));
        host.Files.Before = static (_, _) => { };
        Assert.True(TendedStart(host) > 0);
    }

    [Fact]
    public async Task Settlements_that_the_disk_has_not_taken_remove_nothing()
    {
        await using GroupHost host = await StartAsync();
        Subscription member = host.Join();
        await FillAsync(host);
        host.Look();
        host.Files.Before = RefusePositions;
        SettleAll(host, member);
        host.Look();
        Assert.Equal(Messages, host.Group.Committed);
        Assert.Equal(0, host.Partition.Log.StartOffset);
        host.Files.Before = static (_, _) => { };
        Assert.True(TendedStart(host) > 0);
    }

    [Fact]
    public async Task No_kill_leaves_a_group_behind_the_start()
    {
        await using GroupHost host = await StartAsync();
        Subscription[] members = [host.Join(), host.JoinAs("audit", mode: SettleMode.Automatic)];
        await FillAsync(host);
        host.Look();
        var states = new ConcurrentQueue<string>();
        bool refuses = false;
        Lock copying = new();
        host.Files.Before = (operation, path) =>
        {
            if (refuses)
                RefusePositions(operation, path);
            if (operation == "read" || !path.Contains("topics", StringComparison.Ordinal))
                return;
            lock (copying)
                states.Enqueue(host.CopyFiles());
        };
        for (int round = 0; round < 5; round++)
        {
            refuses = round % 2 == 1; // The disk does not take positions for a while.
            for (int batch = 0; batch < Batches / 5; batch++)
            {
                GroupHost.SettleAll(members[0], SettleKind.Complete, host.Take(members[0]));
                Drain(host, members[1]);
            }
            host.Look();
            states.Enqueue(host.CopyFiles());
        }
        host.Files.Before = static (_, _) => { };
        Assert.True(host.Partition.Log.StartOffset > 0);
        int moved = 0;
        foreach (string state in states)
        {
            await using GroupHost next = await GroupHost.OpenAsync(state);
            long start = next.Partition.Log.StartOffset;
            moved += start > 0 ? 1 : 0;
            Assert.Equal(2, next.Broker.Groups.NamesOf(next.Partition.Topic).Count);
            foreach (string name in next.Broker.Groups.NamesOf(next.Partition.Topic))
            {
                Assert.All(
                    next.Broker.Groups.Find(next.Partition.Topic, name),
                    g =>
                        Assert.True(
                            g.Committed >= start,
                            $"The group {name} is at {g.Committed}, the log begins at {start}."
                        )
                );
            }
        }
        Assert.InRange(moved, 1, states.Count - 1);
    }

    [Fact]
    public async Task A_group_whose_first_member_was_answered_holds_also_behind_a_kill()
    {
        await using GroupHost host = await StartAsync();
        Subscription member = host.Join();
        await FillAsync(host);
        SettleAll(host, member);
        foreach (Partition partition in host.Partition.Topic.Partitions)
            host.Broker.Groups.Keep(partition);
        host.Broker.Groups.Flush(host.Partition.Topic);
        host.JoinAs("new");
        await using GroupHost next = await GroupHost.OpenAsync(host.CopyFiles());
        next.Look();
        Assert.Equal(0, next.Partition.Log.StartOffset);
        Assert.Equal(new RetentionHold(0, "new"), next.Broker.Groups.FindRetentionHold(next.Partition.Topic)?.Hold);
    }

    [Fact]
    public async Task A_group_counts_on_partitions_where_it_has_not_been_yet()
    {
        await using GroupHost host = await StartAsync(partitions: 2);
        host.JoinAs("half", partition: 0);
        Subscription member = host.JoinAs("whole", partition: 1);
        await FillAsync(host, partition: 1);
        Partition partition = host.Partition.Topic.Partitions[1];
        SettleAll(host, member);
        host.Look();
        Assert.Equal(0, partition.Log.StartOffset);
        Assert.Equal("half", host.Broker.Groups.FindRetentionHold(partition.Topic)?.Hold.Group);
        Assert.Equal(Messages, host.JoinAs("half", partition: 1, StartKind.Latest).FirstOffset);
        host.Look();
        Assert.True(partition.Log.StartOffset > 0);
    }

    [Fact]
    public async Task A_message_that_is_not_due_yet_is_copied_forward_and_comes()
    {
        await using GroupHost host = await StartAsync();
        Subscription member = host.Join();
        PublishDelayed(host.Partition, host.Time.GetUtcNow() + TimeSpan.FromHours(1));
        await FillAsync(host);
        SettleAll(host, member);
        await GroupHost.EventuallyAsync(() => TendedStart(host) > 0);
        Assert.Equal(1, host.Partition.DelayedMessages);
        Assert.Empty(host.TakeAll(member));
        await AdvanceAsync(host, () => host.Partition.DelayedMessages == 0, TimeSpan.FromMinutes(1));
        GroupDelivery due = default;
        await GroupHost.EventuallyAsync(() => (due = host.Take(member)).Count == 1);
        Assert.True(due.FirstOffset > Messages);
    }

    [Theory]
    [InlineData("redriven")]
    [InlineData("deleted")]
    [InlineData("gone with its topic")]
    [InlineData("gone with its group")]
    public async Task A_dead_lettered_message_holds_its_segment_until_its_letter_is(string end)
    {
        await using GroupHost host = await StartAsync();
        Subscription member = host.Join();
        await FillAsync(host);
        await SettleAllButAsync(host, member, dead: 3);
        await AssertHeldByLetterAsync(host);
        GroupHost.Leave(member);
        await host.RestartAsync(); // Now they are found in the dead-letter topic.
        await AssertHeldByLetterAsync(host);
        switch (end)
        {
            case "redriven":
                Assert.Equal(
                    (1, 0),
                    await host.Broker.Groups.RedriveAsync(
                        host.Partition.Topic,
                        GroupHost.GroupName,
                        TestContext.Current.CancellationToken
                    )
                );
                Assert.Equal(0, TendedStart(host)); // It is to be settled first.
                member = host.Join();
                Assert.Equal(
                    3,
                    host.Take(member) is { Count: 1 } again
                    && GroupHost.SettleAll(member, SettleKind.Complete, again) == SettleOutcome.Done
                        ? again.FirstOffset
                        : -1
                );
                break;
            case "deleted":
                Assert.Equal(1, host.Broker.TruncateTopic("jobs.dead", 0, -1));
                break;
            case "gone with its topic":
                await host.DeleteTopicAsync("jobs.dead");
                break;
            default:
                host.JoinAs("other", start: StartKind.Latest);
                host.Broker.Groups.Delete(host.Partition.Topic, GroupHost.GroupName);
                break;
        }
        await GroupHost.EventuallyAsync(() => TendedStart(host) > 0);
    }

    [Fact]
    public async Task A_message_that_is_given_up_again_holds_again()
    {
        await using GroupHost host = await StartAsync();
        Subscription member = host.Join();
        await FillAsync(host);
        await SettleAllButAsync(host, member, dead: 3);
        await AssertHeldByLetterAsync(host); // The letters of before are known: the next is told of when it is stored.
        Assert.Equal(
            (1, 0),
            await host.Broker.Groups.RedriveAsync(
                host.Partition.Topic,
                GroupHost.GroupName,
                TestContext.Current.CancellationToken
            )
        );
        await SettleAllButAsync(host, member, dead: 3);
        await AssertHeldByLetterAsync(host);
    }

    [Fact]
    public async Task What_was_driven_back_comes_also_behind_a_kill()
    {
        await using GroupHost host = await StartAsync();
        Subscription member = host.Join();
        await FillAsync(host);
        await SettleAllButAsync(host, member, dead: 3);
        host.Look();
        Assert.Equal(
            (1, 0),
            await host.Broker.Groups.RedriveAsync(
                host.Partition.Topic,
                GroupHost.GroupName,
                TestContext.Current.CancellationToken
            )
        );
        await using GroupHost next = await GroupHost.OpenAsync(host.CopyFiles());
        Assert.Equal([3L], next.TakeAll(next.Join()));
    }

    [Fact]
    public async Task A_limit_of_size_or_age_removes_also_what_is_not_settled()
    {
        await using GroupHost host = await StartAsync();
        host.Join();
        await FillAsync(host);
        Assert.Equal(0, TendedStart(host));
        await ChangeAsync(host, settings => settings with { RetentionBytes = 512 * 1024 });
        Assert.True(TendedStart(host) > 0);
    }

    [Fact]
    public async Task A_topic_that_exists_takes_the_retention_and_keeps_it_over_a_restart()
    {
        await using GroupHost host = await GroupHost.OpenAsync();
        host.CreateTopic(GroupHost.TopicName, Patient);
        Subscription member = host.Join();
        await FillAsync(host);
        SettleAll(host, member);
        host.Look();
        Assert.Equal(
            (Retention.Keep, 0L, true),
            (
                host.Partition.Topic.Settings.Retention,
                host.Partition.Log.StartOffset,
                host.Partition.Topic.Settings.IsUnlimited
            )
        );
        await ChangeAsync(host, settings => settings with { Retention = Retention.Settled });
        GroupHost.Leave(member);
        await host.RestartAsync();
        Assert.Equal(
            (Retention.Settled, false),
            (host.Partition.Topic.Settings.Retention, host.Partition.Topic.Settings.IsUnlimited)
        );
        await GroupHost.EventuallyAsync(() => TendedStart(host) > 0);
    }

    [Fact]
    public async Task A_transient_topic_is_refused()
    {
        await using GroupHost host = await GroupHost.OpenAsync();
        BrokerException refused = Assert.Throws<BrokerException>(() =>
            host.Broker.CreateTopic("t", new TopicSettings { Retention = Retention.Settled })
        );
        Assert.Equal(
            (ErrorCode.InvalidArgument, "retention is settled; allowed: keep, for a transient topic."),
            (refused.Code, refused.Message)
        );
    }

    [Fact]
    public async Task A_log_that_only_grows_is_told_of_once_for_every_doubling_with_what_holds_it()
    {
        var events = new RecordedEvents();
        await using GroupHost host = await StartAsync(
            new BrokerOptions
            {
                ScrubBytesPerSecond = 0,
                StorageEvents = events,
                GrowthNoticeBytes = 300_000,
            }
        );
        host.CreateTopic("kept", Patient);
        Subscription member = host.Join();
        await FillAsync(host);
        await FillAsync(host, topic: "kept");
        for (int look = 0; look < 3; look++)
            host.Look();
        Assert.Equal(["jobs/0 is held by workers at 0", "kept/0 has grown"], events.Told.Order());
        for (int more = 0; more < 2; more++)
            await FillAsync(host);
        host.Look();
        Assert.Equal(2, events.Told.Count(t => t.StartsWith("jobs", StringComparison.Ordinal)));
        SettleAll(host, member);
        host.Look();
        Assert.Equal(3, events.Told.Count);
    }

    private static async Task<GroupHost> StartAsync(BrokerOptions? options = null, uint partitions = 1)
    {
        GroupHost host = await GroupHost.OpenAsync();
        if (options is not null)
        {
            host.Options = options;
            await host.RestartAsync();
        }
        host.Broker.CreateTopic(
            GroupHost.TopicName,
            GroupHost.Small with
            {
                Retention = Retention.Settled,
                Delivery = Patient,
                Partitions = partitions,
            }
        );
        return host;
    }

    private static Task ChangeAsync(GroupHost host, Func<TopicSettings, TopicSettings> change) =>
        host.Broker.ChangeSettingsAsync(host.Partition.Topic, change(host.Partition.Topic.Settings));

    /// <summary>Where the log begins when housekeeping has looked.</summary>
    private static long TendedStart(GroupHost host)
    {
        host.Look();
        return host.Partition.Log.StartOffset;
    }

    /// <summary>Several segments.</summary>
    private static async Task FillAsync(GroupHost host, string topic = GroupHost.TopicName, uint partition = 0)
    {
        for (int batch = 0; batch < Batches; batch++)
            await host.PublishAsync(topic, partition, BatchMessages, bodyBytes: 4000);
    }

    private static void SettleAll(GroupHost host, Subscription member)
    {
        while (host.Take(member) is { Count: > 0 } taken)
            Assert.Equal(SettleOutcome.Done, GroupHost.SettleAll(member, SettleKind.Complete, taken));
    }

    private static async Task SettleAllButAsync(GroupHost host, Subscription member, long dead)
    {
        while (host.Take(member) is { Count: > 0 } taken)
        {
            foreach (long offset in GroupHost.Offsets(taken))
            {
                Assert.Equal(
                    SettleOutcome.Done,
                    GroupHost.Settle(
                        member,
                        offset == dead ? SettleKind.DeadLetter : SettleKind.Complete,
                        taken,
                        offset
                    )
                );
            }
        }
        await GroupHost.EventuallyAsync(() => host.Group.Committed == Messages);
    }

    private static async Task AssertHeldByLetterAsync(GroupHost host)
    {
        await GroupHost.EventuallyAsync(() =>
        {
            host.Look();
            return host.Broker.Groups.FindRetentionHold(host.Partition.Topic)?.Hold
                is { IsDeadLetter: true, Group: GroupHost.GroupName };
        });
        Assert.Equal(0, TendedStart(host));
    }

    /// <summary>Takes what the broker settles.</summary>
    private static void Drain(GroupHost host, Subscription member)
    {
        long end = host.Partition.Log.ReadableOffset;
        Assert.True(
            SpinWait.SpinUntil(
                () =>
                {
                    while (member.TryTake(out Delivery delivery) == DeliveryResult.Run)
                        member.Sent(delivery.Run);
                    return ((GroupMember)member).Group.Committed == end;
                },
                TimeSpan.FromSeconds(20)
            )
        );
    }

    private static async Task AdvanceAsync(GroupHost host, Func<bool> condition, TimeSpan? step = null) =>
        await GroupHost.EventuallyAsync(() =>
        {
            host.Time.Advance(step ?? TimeSpan.FromMilliseconds(250));
            return condition();
        });

    private static void RefusePositions(string operation, string path)
    {
        if (operation != "read" && path.Contains("/groups/", StringComparison.Ordinal))
            throw new StorageIOException(operation, path, EIO);
    }

    private static void PublishDelayed(Partition partition, DateTimeOffset dueAt)
    {
        var properties = new BatchProperties(UnixMicroseconds.From(dueAt), 0);
        byte[] bytes = new byte[properties.HeaderLength + RecordWriter.SizeOf(100) + 8];
        int length = RecordWriter.Write(bytes.AsSpan(properties.HeaderLength), new byte[100]);
        byte[] batch = bytes[
            ..BatchWriter.Complete(bytes, length, 1, length, BatchCodec.None, properties, default, timestamp: 1)
        ];
        lock (partition.AppendLock)
        {
            Assert.Equal(
                AppendResult.Appended,
                partition.Append(new BatchView(batch), partition.NextAppendTime(), out _)
            );
        }

        partition.FlushAndWake();
    }

    private sealed class RecordedEvents : IStorageEvents
    {
        public ConcurrentQueue<string> Told { get; } = new();

        public void OnPartitionLost(Partition partition, string reason) => Assert.Fail(reason);

        public void OnGrown(Partition partition, long bytes) =>
            Told.Enqueue($"{partition.Topic.Name}/{partition.Index} has grown");

        public void OnHeld(Partition partition, long bytes, RetentionHold hold) =>
            Told.Enqueue($"{partition.Topic.Name}/{partition.Index} is held by {hold.Group} at {hold.Offset}");

        public void OnIdsForgotten(Partition partition, long count) => Told.Enqueue("ids");

        public void OnDeadLettered(
            Partition partition,
            string group,
            string deadTopic,
            DeadLettered letters,
            long leftOut
        ) { }

        public void OnGroupEnded(Topic topic, string group, TimeSpan unused) => Told.Enqueue($"{group} has ended");

        public void OnDamaged(Partition partition, JournalDamage damage) => Told.Enqueue("damage");

        public void OnTopicFailed(Partition partition, JournalFailure failure) => Told.Enqueue("failed");

        public void OnDiskFull(Partition partition, bool isFull) => Told.Enqueue("full");

        public void OnStateFailed(StoredState state, JournalFailure? failure) => Told.Enqueue("state");

        public void OnRebuilt(string what) => Told.Enqueue("rebuilt");

        public void OnUnknownTopic(string directory) => Told.Enqueue("unknown");

        public void OnRefused(string what, Exception error) => Told.Enqueue("refused");
    }
}
