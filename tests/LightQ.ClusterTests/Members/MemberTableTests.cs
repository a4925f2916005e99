using LightQ.Broker.Cluster;
using Xunit;

namespace LightQ.ClusterTests.Members;

/// <summary>What a node makes of what it hears.</summary>
public sealed class MemberTableTests
{
    private static readonly MemberOptions Options = new();
    private static readonly PartitionId Id = new(Guid.NewGuid(), 3);

    private readonly Clock _clock = new();
    private readonly MemberTable _table;
    private readonly Dictionary<string, Guid> _runs = [];
    private long _order;

    public MemberTableTests() => _table = new MemberTable(Options, _clock);

    [Fact]
    public void A_node_is_dead_when_it_has_been_silent_and_what_it_led_has_no_leader()
    {
        MemberChange change = Hear("a", Leads(epoch: 4));
        Assert.Equal(["a"], change.Joined.Select(m => m.Name));
        Assert.True(_table.Of(Id, "self") is { Leader: "a", Epoch: 4, IsLed: true });
        _clock.Pass(Options.Silence - Options.Heartbeat);
        Assert.False(_table.Look().IsOfNodes);
        Hear("a");
        _clock.Pass(Options.Silence - Options.Heartbeat);
        Assert.False(_table.Look().IsOfNodes);
        _clock.Pass(Options.Heartbeat);
        Assert.Equal(["a"], _table.Look().Gone.Select(m => m.Name));
        Assert.False(_table.Look().IsOfNodes);
        Assert.True(_table.Of(Id, "self") is { Leader: "a", Epoch: 4, IsLed: false, Ranking: [] });
        Assert.Equal(["a"], Hear("a").Joined.Select(m => m.Name));
        Assert.True(_table.Of(Id, "self").IsLed);
    }

    [Fact]
    public void A_node_that_says_that_it_leaves_is_gone_at_once()
    {
        Hear("a", Leads(epoch: 1));
        Assert.Single(Hear("a", MemberState.Left).Gone);
        Assert.True(_table.Of(Id, "self") is { IsLed: false, Ranking: [] });
        Assert.False(_table.Find("a")!.IsLive);
    }

    [Fact]
    public void A_node_that_was_started_again_does_not_lead_what_it_led()
    {
        Hear("a", Leads(epoch: 1));
        Hear("a", MemberState.Left);
        _runs["a"] = Guid.NewGuid();
        Hear("a");
        Assert.True(_table.Of(Id, "self") is { IsLed: false, Ranking: ["a"] });
    }

    [Fact]
    public void The_newest_epoch_counts_and_messages_that_come_late_do_not()
    {
        MemberMessage old = Compose("a", Leads(epoch: 1));
        Hear("a", Leads(epoch: 2));
        _table.Apply(old);
        Assert.Equal(2u, _table.Of(Id, "self").Epoch);
        Hear("b", Leads(epoch: 3));
        Hear("a", Leads(epoch: 2)); // It has not found out yet.
        Assert.True(_table.Of(Id, "self") is { Leader: "b", Epoch: 3, IsLed: true });
        Hear("a", Released(epoch: 2, ""));
        Assert.True(_table.Of(Id, "self") is { Leader: "b", IsLed: true });
    }

    [Fact]
    public void What_is_missing_from_all_that_a_node_leads_is_released()
    {
        Hear("a", Leads(epoch: 1));
        Round("a");
        Assert.True(_table.Of(Id, "self") is { IsLed: false, Epoch: 1, ReleasedTo: "" });
        Hear("b");
        Hear("a", Released(epoch: 1, "b")); // Said before that, and told after it.
        Assert.Equal("b", _table.Of(Id, "self").ReleasedTo);
        Round("a");
        Assert.Equal("b", _table.Of(Id, "self").ReleasedTo);
    }

    [Fact]
    public void A_node_that_cannot_serve_stands_behind_all_that_can_until_it_says_otherwise()
    {
        Hear("a", Leads(epoch: 1));
        Hear("b");
        Assert.True(_table.Of(Id, "self") is { Ranking: ["a", "b"], Fit: 2 });
        _table.Apply(Compose("a") with { IsUnfit = true });
        Situation now = _table.Of(Id, "self");
        Assert.True(now is { Ranking: ["b", "a"], Fit: 1 } && now.IsUnfit("a"));
        _table.Apply(Compose("b") with { IsUnfit = true });
        now = _table.Of(Id, "self");
        Assert.True(now.Fit == 0 && !now.IsUnfit("a"));
        Hear("a");
        Hear("b", News(PartitionStand.Unable)); // Of this partition alone.
        Assert.True(_table.Of(Id, "self") is { Ranking: ["a", "b"], Fit: 1 });
        Assert.Equal(2, _table.Of(Id with { Partition = 9 }, "self").Fit);
    }

    [Fact]
    public void A_round_of_which_a_part_is_lost_does_not_count()
    {
        Hear("a", Leads(epoch: 1));
        _table.Apply(Compose("a") with { Part = 0, Parts = 3 });
        _table.Apply(Compose("a") with { Part = 2, Parts = 3 });
        Assert.True(_table.Of(Id, "self").IsLed);
        _table.Apply(Compose("a") with { Part = 0, Parts = 2 });
        _table.Apply(Compose("a", Leads(epoch: 1)) with { Part = 1, Parts = 2 });
        Assert.True(_table.Of(Id, "self").IsLed);
    }

    [Fact]
    public void Claims_and_wishes_count_as_long_as_their_node_is_alive()
    {
        Hear("a", News(PartitionStand.Claims));
        _clock.Pass(Options.Heartbeat);
        Assert.True(_table.Of(Id, "self") is { Claimant: "a", IsWanted: false });
        Assert.Equal(Options.Heartbeat, _table.Of(Id, "self").SinceClaim);
        Hear("a", News(PartitionStand.Wants));
        Assert.True(_table.Of(Id, "self") is { Claimant: "", IsWanted: true });
        Hear("a", News(PartitionStand.Claims));
        _clock.Pass(Options.Silence);
        Assert.True(_table.Of(Id, "self") is { Claimant: "", IsWanted: false });
    }

    [Fact]
    public void Of_two_processes_with_one_name_the_first_is_heard_until_it_is_silent()
    {
        Guid second = Guid.NewGuid();
        Hear("a", Leads(epoch: 1));
        MemberMessage other = Compose("a") with { Run = second, IsSettled = false };
        Assert.False(_table.Apply(other).IsOfNodes);
        Assert.True(_table.Of(Id, "self").IsLed);
        _clock.Pass(Options.Silence);
        _table.Look();
        Assert.True(_table.Apply(other).IsOfNodes);
        Assert.False(_table.Of(Id, "self").IsLed);
        Assert.True(MemberMessage.Keeps(isSettled: true, second, isOtherSettled: false, _runs["a"]));
        Assert.NotEqual(
            MemberMessage.Keeps(isSettled: true, second, isOtherSettled: true, _runs["a"]),
            MemberMessage.Keeps(isSettled: true, _runs["a"], isOtherSettled: true, second)
        );
    }

    [Fact]
    public void A_node_is_forgotten_when_it_is_silent_for_long_and_led_nothing()
    {
        Hear("a", Leads(epoch: 1));
        Hear("b");
        _clock.Pass(Options.Silence);
        _table.Look();
        _clock.Pass(Options.ForgetAfter);
        _table.Look();
        Assert.Equal(["a"], _table.Members.Select(m => m.Name));
    }

    [Fact]
    public void A_message_survives_its_bytes()
    {
        MemberMessage sent = Compose("a", Leads(epoch: 7) with { IsPinned = true }, Released(8, "b")) with
        {
            State = MemberState.Draining,
            Data = "a:1",
            Part = 0,
            Parts = 2,
            Command = new MemberCommand(Guid.NewGuid(), "b", "c", Id.Topic, 3),
            Answer = new MemberAnswer(Guid.NewGuid(), "no"),
        };
        MemberMessage read = MemberMessage.Decode(sent.Encode());
        Assert.Equal(sent.Partitions, read.Partitions);
        Assert.Equal(sent with { Partitions = read.Partitions }, read);
    }

    private static PartitionNews News(PartitionStand stand) => new(Id.Topic, Id.Partition, stand);

    private static PartitionNews Leads(uint epoch) => News(PartitionStand.Leads) with { Epoch = epoch };

    private static PartitionNews Released(uint epoch, string to) =>
        News(PartitionStand.Released) with
        {
            Epoch = epoch,
            To = to,
        };

    [Fact]
    public void A_leader_names_its_successor_and_that_one_says_how_far_it_is()
    {
        Hear("b");
        Hear("a", Leads(epoch: 1) with { To = "b" });
        Assert.Equal("b", _table.Of(Id, "b").NextLeader);
        Assert.Empty(_table.Of(Id, "a").Takers);
        Assert.NotEmpty(Hear("b", News(PartitionStand.Prepares) with { Left = 700 }).Partitions);
        Assert.Equal([new Taker("b", PartitionStand.Prepares, 700)], _table.Of(Id, "a").Takers);
        Assert.NotEmpty(Hear("b", News(PartitionStand.Prepares) with { Left = 600 }).Partitions);
        Hear("b", News(PartitionStand.Ready));
        Assert.Equal([new Taker("b", PartitionStand.Ready, null)], _table.Of(Id, "a").Takers);
        Round("b", News(PartitionStand.Ready));
        Assert.Single(_table.Of(Id, "a").Takers);
        Round("b"); // That it does not read any more was lost.
        Assert.Empty(_table.Of(Id, "a").Takers);
        Hear("b", News(PartitionStand.Unable));
        Hear("b", MemberState.Left);
        Assert.Empty(_table.Of(Id, "a").Takers);
        Hear("a", Leads(epoch: 1));
        Assert.Empty(_table.Of(Id, "b").NextLeader);
        Hear("a", Leads(epoch: 1) with { To = "b" });
        Hear("a", Released(epoch: 1, "b"));
        Assert.Empty(_table.Of(Id, "b").NextLeader);
    }

    [Fact]
    public void What_the_successors_of_a_leader_have_to_read_is_added_up()
    {
        var other = new PartitionId(Id.Topic, 4);
        Hear("b");
        Hear("a", Leads(epoch: 1) with { To = "b" }, Leads(epoch: 1) with { Partition = 4, To = "c" });
        Assert.Equal(0, _table.EntriesLeft("a"));
        PartitionNews prepares = News(PartitionStand.Prepares);
        Hear("b", prepares with { Left = 700 }, prepares with { Partition = 4, Left = 10_000 }); // It is not named.
        Hear("c", prepares with { Partition = 4, Left = 30 });
        Assert.Equal(730, _table.EntriesLeft("a"));
        Assert.Equal(0, _table.EntriesLeft("b"));
        Assert.Equal(2, _table.Of(other, "a").Takers.Count);
        Hear("b", News(PartitionStand.Ready));
        Assert.Equal(30, _table.EntriesLeft("a"));
    }

    [Theory]
    [InlineData(nameof(PartitionStand.Prepares), true)]
    [InlineData(nameof(PartitionStand.Ready), true)]
    [InlineData(nameof(PartitionStand.Unable), false)]
    public void A_first_choice_that_reads_the_partition_wants_it_still(string stand, bool isWanted)
    {
        // It leads two of a topic, and another node none: one of them is to go there.
        PartitionId other = Id with
        {
            Partition = 4,
        };
        Hear("a", Leads(epoch: 1), Leads(epoch: 1) with { Partition = other.Partition });
        Hear("b");
        PartitionId placed = new[] { Id, other }.Single(id => _table.Of(id, "self").Ranking[0] == "b");
        Hear("b", News(Enum.Parse<PartitionStand>(stand)) with { Partition = placed.Partition });
        Assert.Equal(isWanted, _table.Of(placed, "self").IsWanted);
    }

    [Fact]
    public void Who_waits_for_a_partition_is_told_that_another_one_has_changed_its_place()
    {
        PartitionNews[] led = [.. Enumerable.Range(0, 4).Select(i => Leads(epoch: 1) with { Partition = (uint)i })];
        PartitionId[] ids = [.. led.Select(news => news.Id)];
        Hear("a", led[0], led[1]);
        Hear("b", led[2], led[3]);
        _table.Look();
        Assert.Equal(["a", "a", "b", "b"], Places());
        Assert.Empty(_table.Look().Partitions);

        // What an operator has moved to b does not count: b is to get one of the others.
        PartitionNews[] pinned = [.. led[2..].Select(news => news with { IsPinned = true })];
        Assert.Equal(ids[2..], Hear("b", pinned).Partitions);
        PartitionId moved = ids[Array.IndexOf(Places(), "b")];
        Assert.Equal([moved], _table.Look().Partitions);
        Assert.Empty(_table.Look().Partitions);

        // Also when nobody has asked meanwhile, and when partitions come and go.
        Hear("b", led[2..]);
        Assert.Equal([moved], _table.Look().Partitions);
        PartitionId[] others = [Id with { Partition = 8 }, Id with { Partition = 9 }];
        _table.Know(others);
        Assert.Equal(others, _table.Look().Partitions.Order(Comparer<PartitionId>.Create(ByNumber)));
        _table.Forget(others[0]);
        Assert.Contains(others[0], _table.Look().Partitions);

        static int ByNumber(PartitionId x, PartitionId y) => x.Partition.CompareTo(y.Partition);
        string[] Places() => [.. ids.Select(id => _table.Of(id, "self").Ranking[0])];
    }

    private MemberChange Hear(string node, params PartitionNews[] news) => _table.Apply(Compose(node, news));

    private MemberChange Hear(string node, MemberState state) => _table.Apply(Compose(node) with { State = state });

    private void Round(string node, params PartitionNews[] all) =>
        _table.Apply(Compose(node, all) with { Part = 0, Parts = 1 });

    private MemberMessage Compose(string node, params PartitionNews[] news)
    {
        if (!_runs.TryGetValue(node, out Guid run))
            _runs[node] = run = Guid.NewGuid();
        return new MemberMessage
        {
            Node = node,
            Run = run,
            Order = ++_order,
            IsSettled = true,
            Partitions = news,
        };
    }

    private sealed class Clock : TimeProvider
    {
        private long _now = 1;

        public override long TimestampFrequency => TimeSpan.TicksPerSecond;

        public void Pass(TimeSpan time) => _now += time.Ticks;

        public override long GetTimestamp() => _now;
    }
}
