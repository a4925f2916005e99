using System.Buffers.Binary;
using LightQ.Broker;
using LightQ.Broker.Streams;
using LightQ.Broker.Subscriptions;
using LightQ.Broker.Topics;
using LightQ.Broker.Users;
using LightQ.Client;
using LightQ.Protocol.Frames;
using LightQ.Storage.State;
using LightQ.Tests.Shared;
using Xunit;
using Retention = LightQ.Client.Retention;
using TopicKind = LightQ.Broker.Topics.TopicKind;

namespace LightQ.Tests.Broker.Groups;

/// <summary>
/// One user cannot have all groups, or all names of producers, of a topic; and a group that nobody uses ends.
/// </summary>
public sealed class GroupSharesTests : IDisposable
{
    private const uint Alice = 1000,
        Mallory = 2000;
    private static readonly TimeSpan Hour = TimeSpan.FromHours(1),
        Day = TimeSpan.FromDays(1);
    private readonly string _directory = Directory.CreateTempSubdirectory("lightq-shares").FullName;
    private readonly ManualTime _time = new();
    private uint _lastStream;

    public void Dispose() => Directory.Delete(_directory, recursive: true);

    [Theory]
    [InlineData(TopicKind.Transient)]
    [InlineData(TopicKind.Durable)]
    public async Task A_user_makes_as_many_groups_as_it_leaves_to_others(TopicKind kind)
    {
        await using LightQBroker broker = await OpenAsync(new BrokerOptions { MaxGroupsPerTopic = 8 });
        Create(broker, kind);
        for (int i = 0; i < 4; i++)
            Subscribe(broker, Mallory, $"m{i}").Release();
        RefusedGroup(broker, Mallory, "m4", "The user has 4 of 4 groups of the topic 't'");
        Subscribe(broker, Mallory, "m3"); // One that is there is no new one.
        Subscribe(broker, Alice, "a0");
        Subscribe(broker, Alice, "a1");
        RefusedGroup(broker, Alice, "a2", "The user has 2 of 6 groups of the topic 't'");
        Subscribe(broker, Alice + 1, "b0");
        // Without a login there are no shares, only the limit.
        Subscribe(broker, UserNumber.None, "n0");
        RefusedGroup(broker, UserNumber.None, "n1", "The topic 't' has 8 groups");
    }

    [Fact]
    public async Task What_a_user_has_is_known_behind_a_restart_and_a_delete_makes_room()
    {
        var options = new BrokerOptions { MaxGroupsPerTopic = 4 };
        await using (LightQBroker broker = await OpenAsync(options))
        {
            Create(broker, TopicKind.Durable);
            Subscribe(broker, Mallory, "m0").Release();
            Subscribe(broker, Mallory, "m1").Release();
        }
        await using LightQBroker again = await OpenAsync(options);
        Topic topic = again.GetTopic("t");
        Assert.Equal(Mallory, again.Groups.MakerOf(topic, "m0"));
        Assert.Null(again.Groups.MakerOf(topic, "none"));
        RefusedGroup(again, Mallory, "m2", "The user has 2 of 2 groups");
        again.Groups.Delete(topic, "m0");
        Subscribe(again, Mallory, "m2");
    }

    [Fact]
    public async Task A_user_makes_as_many_names_of_producers_as_it_leaves_to_others()
    {
        await using LightQBroker broker = await OpenAsync(new BrokerOptions { MaxNamedProducersPerTopic = 4 });
        Create(broker, TopicKind.Durable);
        Produce(broker, Mallory, "m0");
        Produce(broker, Mallory, "m1");
        BrokerException refused = Assert.Throws<BrokerException>(() => Produce(broker, Mallory, "m2"));
        Assert.Equal(ErrorCode.ResourceExhausted, refused.Code);
        Assert.Contains(
            "The user has 2 of 2 named producers of the topic 't'",
            refused.Message,
            StringComparison.Ordinal
        );
        Produce(broker, Mallory, "m1");
        Produce(broker, Alice, "a0");
        Produce(broker, UserNumber.None, "n0");
    }

    [Theory]
    [InlineData(TopicKind.Transient)]
    [InlineData(TopicKind.Durable)]
    public async Task A_group_without_members_and_settlements_ends(TopicKind kind)
    {
        await using LightQBroker broker = await OpenAsync(new BrokerOptions { GroupExpiry = Day });
        Topic topic = Create(broker, kind, Retention.Default);
        Subscribe(broker, Mallory, "left").Release();
        Subscription stays = Subscribe(broker, Alice, "stays");
        await PassAsync(Day - Hour);
        Assert.Equal(["left", "stays"], broker.Groups.NamesOf(topic));
        await EndedAsync(broker, "stays");
        await PassAsync(3 * Day);
        Assert.Equal(["stays"], broker.Groups.NamesOf(topic));

        stays.Release();
        await PassAsync(Day - (2 * Hour));
        Assert.Equal(["stays"], broker.Groups.NamesOf(topic));
        await EndedAsync(broker);
    }

    [Fact]
    public async Task What_a_group_held_is_free_when_it_has_ended()
    {
        await using LightQBroker broker = await OpenAsync(new BrokerOptions { GroupExpiry = Day });
        Topic topic = Create(broker, TopicKind.Durable, Retention.Settled);
        Subscribe(broker, Mallory, "holds").Release();
        broker.Groups.Keep(topic.Partitions[0]);
        Assert.Equal("holds", broker.Groups.SettledRetention.Find(topic.Partitions[0]).Group);
        await EndedAsync(broker);
        await GroupHost.EventuallyAsync(() =>
        {
            _time.Advance(TimeSpan.FromSeconds(1));
            return broker.Groups.SettledRetention.Find(topic.Partitions[0]) is { Group: "", IsPassing: false };
        });
    }

    [Fact]
    public async Task How_long_nobody_uses_a_group_counts_on_behind_restarts()
    {
        var options = new BrokerOptions { GroupExpiry = 3 * Day };
        await using (LightQBroker broker = await OpenAsync(options))
        {
            Create(broker, TopicKind.Durable);
            Subscribe(broker, Mallory, "left").Release();
        }
        for (int i = 0; i < 2; i++)
        {
            await using LightQBroker broker = await OpenAsync(options);
            await PassAsync(Day);
            Assert.Equal(["left"], broker.Groups.NamesOf(broker.GetTopic("t")));
        }
        await using LightQBroker last = await OpenAsync(options);
        // An age that files tell is believed when the clock has gone evenly for a while.
        await PassAsync(Hour);
        Assert.Equal(["left"], last.Groups.NamesOf(last.GetTopic("t")));
        await PassAsync(Day - (2 * Hour));
        Assert.Equal(["left"], last.Groups.NamesOf(last.GetTopic("t")));
        await EndedAsync(last);
    }

    [Fact]
    public async Task A_group_of_an_earlier_version_is_nobodys_and_counts_as_used_when_it_is_first_seen()
    {
        Guid topic;
        await using (LightQBroker broker = await OpenAsync(new BrokerOptions()))
            topic = Create(broker, TopicKind.Durable).Id;
        using (var environment = new LightQ.Storage.JournalEnvironment(new()))
        using (OffsetStore positions = OffsetStore.Open(Path.Combine(_directory, "a", "groups"), environment))
        {
            byte[] state = new byte[16];
            BinaryPrimitives.WriteInt32LittleEndian(state, 1);
            state[4] = 1; // The version.
            positions.Set(new OffsetKey("old", topic, 0), 0, state);
        }
        await using LightQBroker again = await OpenAsync(new BrokerOptions { GroupExpiry = Day });
        Assert.Equal(UserNumber.None, again.Groups.MakerOf(again.GetTopic("t"), "old"));
        await PassAsync(Day - Hour);
        Assert.Equal(["old"], again.Groups.NamesOf(again.GetTopic("t")));
        await EndedAsync(again);
    }

    [Fact]
    public async Task With_zero_no_group_ends()
    {
        await using LightQBroker broker = await OpenAsync(new BrokerOptions { GroupExpiry = TimeSpan.Zero });
        Topic topic = Create(broker, TopicKind.Durable);
        Subscribe(broker, Mallory, "left").Release();
        await PassAsync(1000 * Day, Day);
        Assert.Equal(["left"], broker.Groups.NamesOf(topic));
    }

    private static Topic Create(LightQBroker broker, TopicKind kind, Retention retention = Retention.Default) =>
        broker.CreateTopic(
            "t",
            new TopicSettings
            {
                Kind = kind,
                MaxMessageBytes = 1024,
                SegmentBytes = 1 << 19,
                RingBytes = 1 << 19,
                Retention = retention,
            }
        );

    /// <summary>Time passes, and housekeeping looks.</summary>
    private async Task PassAsync(TimeSpan time, TimeSpan step = default)
    {
        step = step == default ? Hour : step;
        for (TimeSpan passed = TimeSpan.Zero; passed < time; passed += step)
        {
            _time.Advance(step);
            await Task.Yield();
        }
    }

    private Task EndedAsync(LightQBroker broker, params string[] left) =>
        GroupHost.EventuallyAsync(() =>
        {
            _time.Advance(Hour);
            return broker.Groups.NamesOf(broker.GetTopic("t")).SequenceEqual(left);
        });

    private void RefusedGroup(LightQBroker broker, uint user, string group, string found)
    {
        BrokerException refused = Assert.Throws<BrokerException>(() => Subscribe(broker, user, group));
        Assert.Equal(ErrorCode.ResourceExhausted, refused.Code);
        Assert.Contains(found, refused.Message, StringComparison.Ordinal);
    }

    private Subscription Subscribe(LightQBroker broker, uint user, string group) =>
        broker.Subscribe(
            new Owner(user),
            ++_lastStream,
            new SubscribeFrame(
                "t",
                0,
                group,
                StartKind.Earliest,
                0,
                -1,
                0,
                0,
                SettleMode.Automatic,
                SlowPolicy.TopicDefault,
                0
            ),
            out _
        );

    private void Produce(LightQBroker broker, uint user, string name) =>
        broker.OpenProducer(
            new Owner(user),
            ++_lastStream,
            new OpenProducerFrame("t", 0, Durability.Default, name),
            out _
        );

    private Task<LightQBroker> OpenAsync(BrokerOptions options) =>
        LightQBroker.OpenAsync(Path.Combine(_directory, "a"), options, _time);

    private sealed class Owner(uint user) : IStreamOwner
    {
        public uint ConnectionId => 1;

        public uint User => user;

        public void Schedule(OutputStream stream)
        {
            // Nothing is sent.
        }
    }
}
