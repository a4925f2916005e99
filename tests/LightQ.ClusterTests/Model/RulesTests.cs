using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.ClusterTests.Model;

/// <summary>
/// With the rules nothing is lost, whichever claims, delays and crashes come together. The numbers of states are those
/// in docs/design/cluster.md; another number is another model.
/// </summary>
public sealed class RulesTests
{
    private const Reached Always =
        Reached.ClaimRefused
        | Reached.ClaimAgainstLiveOwner
        | Reached.FromSnapshot
        | Reached.LateAnswer
        | Reached.DuplicateAcked
        | Reached.TwoOwners
        | Reached.AllAcked;

    /// <summary>What is stored where it does not belong.</summary>
    private const Reached Void = Reached.Intruder | Reached.HoleInEpoch | Reached.VoidSnapshot;

    private static readonly Bounds One = new()
    {
        Window = 1,
        Claims = 3,
        BatchesOfQ = 2,
        Parts = 2,
    };

    private static readonly Bounds Two = new() { Window = 2, Snapshots = 2 };

    private static readonly Bounds Three = new() { Window = 3 };

    [Fact]
    public void With_one_append_under_way_nothing_is_lost_and_no_entry_is_void()
    {
        Search search = Runs.Clean(One);
        Assert.Equal(310_402, search.States);
        Runs.HasReached(search, Always | Reached.HalfSnapshot);
        Assert.Equal(Reached.Nothing, search.Reached & Void);
    }

    [Fact]
    public void With_two_appends_under_way_entries_are_void_and_nothing_is_lost()
    {
        Search search = Runs.Clean(Two);
        Assert.Equal(222_327, search.States);
        Runs.HasReached(search, Always | Void);
    }

    [Fact]
    public void With_three_appends_under_way_entries_are_void_and_nothing_is_lost()
    {
        Search search = Runs.Clean(Three);
        Assert.Equal(145_692, search.States);
        Runs.HasReached(search, Always | Void | Reached.StoredBehindRefused | Reached.VoidTwin);
    }

    [Theory]
    [InlineData(1, 2)]
    [InlineData(2, 1)]
    public void The_shortcuts_of_the_search_hide_nothing(int window, int claims)
    {
        var bounds = new Bounds { Window = window, Claims = claims };
        Search search = Runs.Clean(bounds);
        Search literal = Runs.Clean(bounds with { IsLiteral = true });
        Assert.True(literal.States > 5 * search.States);
        Runs.HasReached(literal, search.Reached);
    }

    [Theory]
    [InlineData(1, 2, Dropped.Condition | Dropped.Position)]
    [InlineData(1, 1, Dropped.Stop)]
    [InlineData(1, 1, Dropped.ReplayBeforeClaim)]
    [InlineData(2, 1, Dropped.Prefix)]
    [InlineData(2, 1, Dropped.Epoch)]
    [InlineData(2, 1, Dropped.Offset)]
    [InlineData(2, 1, Dropped.NamedSnapshot)]
    [InlineData(1, 2, Dropped.NamedSnapshot)]
    internal void A_search_without_shortcuts_finds_the_same_losses(int window, int parts, Dropped dropped)
    {
        var bounds = new Bounds { Window = window, Parts = parts };
        Search search = Search.Run(bounds, dropped);
        Assert.NotEqual(Violation.None, search.Violation);
        Runs.Found(search.Violation, bounds with { IsLiteral = true }, dropped);
    }

    [Fact]
    public void With_one_append_under_way_the_first_and_fourth_rule_are_enough()
    {
        Search search = Runs.Clean(new Bounds { Window = 1, Parts = 2 }, Dropped.R2 | Dropped.R3);
        Runs.HasReached(search, Always | Reached.HalfSnapshot);
        Assert.Equal(Reached.Nothing, search.Reached & Void);
    }

    [Fact]
    public void With_one_append_under_way_and_snapshots_of_one_entry_the_first_rule_is_enough()
    {
        Search search = Runs.Clean(new Bounds { Window = 1 }, Dropped.R2 | Dropped.R3 | Dropped.NamedSnapshot);
        Runs.HasReached(search, Always);
    }

    [Fact]
    public void An_owner_that_compares_sequences_itself_needs_no_condition_of_the_stream()
    {
        Search search = Runs.Clean(new Bounds { Window = 1 }, Dropped.Condition);
        Runs.HasReached(search, Reached.Intruder | Reached.VoidSnapshot | Reached.VoidTwin | Reached.AllAcked);
    }

    [Theory]
    [InlineData(2, 2, 1, 2, 2)]
    [InlineData(3, 2, 1, 1, 2)]
    [Trait("Tier", "C")]
    [Trait("Plain", "no")]
    public void Wider_searches_find_nothing_either(int window, int claims, int batchesOfQ, int snapshots, int parts)
    {
        FaultRun.RequireTier("A million states take some seconds.");
        SearchWith(window, claims, batchesOfQ, snapshots, parts);
    }

    [Theory]
    [InlineData(1, 3, 2, 2, 1)]
    [InlineData(2, 3, 1, 1, 1)]
    [Trait("Tier", "N")]
    [Trait("Plain", "no")]
    public void The_widest_searches_find_nothing_either(
        int window,
        int claims,
        int batchesOfQ,
        int snapshots,
        int parts
    )
    {
        FaultRun.RequireLongRun("Millions of states take a minute.");
        SearchWith(window, claims, batchesOfQ, snapshots, parts);
    }

    private static void SearchWith(int window, int claims, int batchesOfQ, int snapshots, int parts)
    {
        Search search = Runs.Clean(
            new Bounds
            {
                Window = window,
                Claims = claims,
                BatchesOfQ = batchesOfQ,
                Snapshots = snapshots,
                Parts = parts,
            }
        );
        Runs.HasReached(search, window == 1 ? Always : Always | Void);
    }
}
