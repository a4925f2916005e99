using LightQ.Broker.Cluster;
using LightQ.ClusterTests.Engine;
using Xunit;

namespace LightQ.ClusterTests.Members;

/// <summary>Who claims a partition, and when.</summary>
public sealed class TurnTests
{
    private static readonly MemberOptions Options = new();

    private static readonly Situation Unled = new()
    {
        Leader = "",
        Epoch = 0,
        IsLed = false,
        IsPinned = false,
        NextLeader = "",
        Takers = [],
        ReleasedTo = "",
        SinceRelease = TimeSpan.Zero,
        Claimant = "",
        SinceClaim = TimeSpan.Zero,
        Ranking = ["a", "b", "c"],
        Fit = 3,
        Settling = [],
        IsWanted = false,
    };

    [Fact]
    public void The_first_choice_claims_at_once_and_each_next_one_later()
    {
        Assert.Equal(new Turn(IsMine: true), Of(Unled, "a"));
        Assert.Equal(new Turn(IsMine: false, Wait: Options.NextChoice), Of(Unled, "b"));
        Assert.Equal(new Turn(IsMine: false, Wait: 2 * Options.NextChoice), Of(Unled, "c"));
        Assert.Equal(new Turn(IsMine: true), Of(Unled, "c", 2 * Options.NextChoice));
    }

    [Fact]
    public void A_live_leader_is_never_robbed_and_only_the_first_choice_asks_for_it()
    {
        Situation led = Unled with { Leader = "b", Epoch = 3, IsLed = true };
        Assert.Equal(new Turn(IsMine: false, Wants: true), Of(led, "a", TimeSpan.FromDays(1)));
        Assert.Equal(new Turn(IsMine: false), Of(led, "c", TimeSpan.FromDays(1)));
        Assert.Equal(new Turn(IsMine: false), Of(led with { IsPinned = true }, "a", TimeSpan.FromDays(1)));
    }

    [Fact]
    public void A_leader_that_cannot_serve_it_is_asked_for_it_even_if_it_was_moved_there()
    {
        Situation led = Unled with { Leader = "c", IsLed = true, IsPinned = true, Fit = 2 };
        Assert.Equal(new Turn(IsMine: false, Wants: true), Of(led, "a"));
        Assert.Equal(new Turn(IsMine: false), Of(led, "b"));
        // When none can, nothing moves.
        Assert.Equal(new Turn(IsMine: false), Of(led with { Fit = 0 }, "a"));
        Assert.Equal(new Turn(IsMine: false), Of(led with { Fit = 0, IsPinned = false }, "a"));
    }

    [Fact]
    public void What_is_released_to_a_node_is_left_to_it_for_a_while()
    {
        Situation released = Unled with { Leader = "a", ReleasedTo = "b", IsPinned = true };
        Assert.Equal(new Turn(IsMine: true, IsPinned: true), Of(released, "b"));
        Assert.Equal(new Turn(IsMine: false, Wait: Options.TakeUp), Of(released, "a", Options.LongestClaim));
        Assert.Equal(new Turn(IsMine: true), Of(released with { SinceRelease = Options.TakeUp }, "a"));
    }

    [Fact]
    public void A_claim_is_waited_for()
    {
        Situation claimed = Unled with { Claimant = "b" };
        Assert.Equal(new Turn(IsMine: false, Wait: Options.LongestClaim), Of(claimed, "a"));
        Assert.Equal(new Turn(IsMine: true), Of(claimed with { SinceClaim = Options.LongestClaim }, "a"));
    }

    [Fact]
    public void A_node_that_has_just_started_is_waited_for()
    {
        Situation starting = Unled with { Settling = ["b"] };
        Assert.Equal(new Turn(IsMine: false, IsEarly: true), Of(starting, "c", TimeSpan.FromDays(1)));
        Assert.Equal(new Turn(IsMine: true), Of(starting, "a"));
    }

    [Fact]
    public void A_node_that_drains_claims_nothing() =>
        Assert.Equal(new Turn(IsMine: false), Of(Unled, "d", TimeSpan.FromDays(1)));

    [Fact]
    public void The_time_without_a_leader_begins_when_none_is_found_and_not_when_one_was_seen_last()
    {
        var time = new ManualTime();
        var leaderless = new Leaderless(time);
        Assert.Equal(TimeSpan.Zero, leaderless.Look(isLed: true));
        time.Advance(TimeSpan.FromHours(1)); // Nothing has changed, so it was not looked at.
        TimeSpan unled = leaderless.Look(isLed: false);
        Assert.Equal(new Turn(IsMine: false, Wait: Options.NextChoice), Of(Unled, "b", unled));
        time.Advance(Options.NextChoice);
        Assert.Equal(new Turn(IsMine: true), Of(Unled, "b", leaderless.Look(isLed: false)));
        leaderless.Reset();
        time.Advance(Options.NextChoice);
        Assert.Equal(TimeSpan.Zero, leaderless.Look(isLed: false));
    }

    [Fact]
    public void A_node_that_has_given_way_waits_only_until_it_hears_who_leads()
    {
        var time = new ManualTime();
        var pause = new ClaimPause(Options, time);
        pause.OnYielded();
        Assert.Equal(Options.TakeUp, pause.Left);
        pause.OnLedElsewhere();
        Assert.True(pause.Left <= TimeSpan.Zero);
        Assert.True(pause.LeftToAsk <= TimeSpan.Zero);
    }

    [Fact]
    public void A_node_whose_claim_has_failed_waits_all_the_same()
    {
        var time = new ManualTime();
        var pause = new ClaimPause(Options, time);
        pause.OnFailed();
        TimeSpan first = pause.Left;
        pause.OnLedElsewhere();
        Assert.Equal((true, first, Options.WantAgain), (pause.IsFailing, pause.Left, pause.LeftToAsk));
        time.Advance(first);
        Assert.Equal(TimeSpan.Zero, pause.Left);
        pause.OnFailed();
        Assert.Equal(2 * first, pause.Left);
        pause.OnLeads();
        Assert.Equal((false, TimeSpan.Zero), (pause.IsFailing, pause.LeftToAsk));
        Assert.True(pause.Left <= TimeSpan.Zero);
    }

    private static Turn Of(Situation now, string self, TimeSpan leaderless = default) =>
        Turn.Of(now, self, leaderless, Options);
}
