using LightQ.Broker.Cluster;
using LightQ.Broker.Topics;
using LightQ.ClusterTests.Engine;
using Xunit;

namespace LightQ.ClusterTests.Members;

/// <summary>When a leader hands its partition over, and to which node.</summary>
public sealed class SuccessionTests
{
    private static readonly MemberOptions Options = new();

    private static readonly Situation Led = new()
    {
        Leader = "a",
        Epoch = 3,
        IsLed = true,
        IsPinned = false,
        NextLeader = "",
        Takers = [],
        ReleasedTo = "",
        SinceRelease = TimeSpan.Zero,
        Claimant = "",
        SinceClaim = TimeSpan.Zero,
        Ranking = ["b", "c"],
        Fit = 2,
        Settling = [],
        IsWanted = false,
    };

    private readonly ManualTime _time = new();
    private readonly Succession _succession;

    public SuccessionTests() => _succession = new Succession(Options, _time);

    [Fact]
    public void A_node_gets_the_partition_when_it_has_read_it()
    {
        Assert.Equal(SuccessionAct.Name, Look("b").Act);
        Assert.Equal(new SuccessionStep(SuccessionAct.Wait, Options.TakerAnswer), Look("b"));
        Assert.Equal(SuccessionAct.Wait, Look("b", Prepares("b", null)).Act);
        Assert.Equal(SuccessionAct.Wait, Look("b", Prepares("b", 900)).Act);
        Assert.Equal(900, _succession.Left);
        // However long it takes, as long as it gets on.
        for (int left = 800; left > 0; left -= 100)
        {
            _time.Advance(Options.TakerStall - TimeSpan.FromTicks(1));
            Assert.Equal(new SuccessionStep(SuccessionAct.Wait, Options.TakerStall), Look("b", Prepares("b", left)));
        }
        Assert.Equal(new SuccessionStep(SuccessionAct.HandOver), Look("b", Ready("b")));
    }

    [Fact]
    public void A_node_that_says_nothing_gets_it_all_the_same()
    {
        Look("b");
        _time.Advance(Options.TakerAnswer);
        SuccessionStep step = Look("b", Ready("c"));
        Assert.Equal(SuccessionAct.HandOver, step.Act);
        Assert.Contains("does not say", step.Reason, StringComparison.Ordinal);
    }

    [Fact]
    public void One_that_gets_no_further_is_passed_over_and_asked_for_nothing_for_a_while()
    {
        Look("b");
        Look("b", Prepares("b", 900));
        _time.Advance(Options.TakerStall);
        SuccessionStep step = Look("b", Prepares("b", 900));
        Assert.Equal(SuccessionAct.PassOver, step.Act);
        Assert.Contains("no further", step.Reason, StringComparison.Ordinal);
        _succession.Refuse("b");
        Assert.False(_succession.MayHave("b"));
        Assert.True(_succession.MayHave("c"));
        _time.Advance(Options.WantAgain);
        Assert.True(_succession.MayHave("b"));
    }

    [Fact]
    public void One_that_falls_silent_after_it_has_answered_is_passed_over_too()
    {
        Look("b");
        Look("b", Prepares("b", 900));
        _time.Advance(Options.TakerStall);
        Assert.Equal(SuccessionAct.PassOver, Look("b").Act);
    }

    [Fact]
    public void A_node_that_drains_asks_the_next_one_and_then_waits_for_the_one_with_least_to_read()
    {
        string[] both = ["b", "c"];
        Assert.Equal("b", _succession.Choose(both));
        Look("b", both);
        Look("b", both, Prepares("b", 5000));
        _time.Advance(Options.NextTaker - Options.TakerStall + TimeSpan.FromTicks(1));
        Look("b", both, Prepares("b", 4000));
        _time.Advance(Options.TakerStall - TimeSpan.FromTicks(1));
        SuccessionStep step = Look("b", both, Prepares("b", 3000));
        Assert.Equal(SuccessionAct.PassOver, step.Act);
        Assert.Contains("3000 entries", step.Reason, StringComparison.Ordinal);

        Assert.Equal("c", _succession.Choose(both));
        Look("c", both);
        step = Look("c", both, new Taker("c", PartitionStand.Unable, null));
        // No other is left to ask: it would get it, as before, and producers would wait.
        Assert.Equal(SuccessionAct.HandOver, step.Act);
        Assert.Contains("cannot read", step.Reason, StringComparison.Ordinal);

        // Of those that were passed over, the one with least to read; and it has as much time as it gets on.
        Assert.Equal("b", _succession.Choose(both));
        Assert.Equal(SuccessionAct.Name, Look("b", both).Act);
        Look("b", both, Prepares("b", 3000));
        _time.Advance(Options.TakerStall - TimeSpan.FromTicks(1));
        Look("b", both, Prepares("b", 2000));
        _time.Advance(Options.TakerStall - TimeSpan.FromTicks(1));
        Assert.Equal(SuccessionAct.Wait, Look("b", both, Prepares("b", 1000)).Act);
        _time.Advance(Options.TakerStall);
        Assert.Equal(SuccessionAct.HandOver, Look("b", both, Prepares("b", 1000)).Act);
    }

    [Fact]
    public void A_node_that_stops_asks_the_next_one_sooner()
    {
        string[] both = ["b", "c"];
        Look("b", both);
        Look("b", both, Prepares("b", 5000));
        _time.Advance(Options.NextTakerAtStop);
        Assert.Equal(SuccessionAct.Wait, Look("b", both, Prepares("b", 4000)).Act);
        Situation now = Led with { Takers = [Prepares("b", 4000)] };
        Assert.Equal(SuccessionAct.PassOver, _succession.Look(now, "b", both, isStopping: true).Act);
    }

    [Fact]
    public void What_was_read_for_a_node_that_is_not_to_follow_any_more_is_forgotten()
    {
        Look("b");
        Look("b", Prepares("b", 900));
        _succession.End();
        Assert.Empty(_succession.To);
        Assert.Equal(SuccessionAct.Name, Look("b", Ready("b")).Act);
        Assert.Null(_succession.Left);
    }

    private static Taker Prepares(string node, long? left) => new(node, PartitionStand.Prepares, left);

    private static Taker Ready(string node) => new(node, PartitionStand.Ready, null);

    private SuccessionStep Look(string to, params Taker[] takers) => Look(to, null!, takers);

    private SuccessionStep Look(string to, string[] candidates, params Taker[] takers) =>
        _succession.Look(Led with { Takers = takers }, to, candidates);
}
