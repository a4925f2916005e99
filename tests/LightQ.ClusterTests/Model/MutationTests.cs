using Xunit;

namespace LightQ.ClusterTests.Model;

/// <summary>Without a rule the search finds what becomes of an acked batch.</summary>
public sealed class MutationTests
{
    [Theory]
    [InlineData(Dropped.Condition | Dropped.R2, Violation.Lost)]
    [InlineData(Dropped.Condition | Dropped.Position, Violation.Lost)]
    [InlineData(Dropped.Condition | Dropped.PositionOfClaim, Violation.Diverged)]
    [InlineData(Dropped.Stop, Violation.Lost)]
    [InlineData(Dropped.ReplayBeforeClaim, Violation.Diverged)]
    internal void Without_the_first_rule_one_append_under_way_is_too_many(Dropped dropped, Violation violation) =>
        Runs.Found(violation, new Bounds { Window = 1 }, dropped);

    [Theory]
    [InlineData(2)]
    [InlineData(3)]
    public void Without_the_second_rule_a_batch_behind_a_claim_is_acked(int window)
    {
        Search search = Runs.Found(Violation.Lost, new Bounds { Window = window }, Dropped.Prefix);
        Runs.HasReached(search, Reached.Intruder | Reached.StoredBehindRefused);
    }

    [Theory]
    [InlineData(2, Dropped.Epoch, Violation.Duplicated)]
    [InlineData(3, Dropped.Epoch, Violation.Reordered)]
    [InlineData(2, Dropped.Offset, Violation.Reordered)]
    [InlineData(3, Dropped.Offset, Violation.Reordered)]
    [InlineData(2, Dropped.R3, Violation.Reordered)]
    [InlineData(3, Dropped.R3, Violation.Reordered)]
    internal void Without_the_third_rule_intruders_count(int window, Dropped dropped, Violation violation) =>
        Runs.Found(violation, new Bounds { Window = window }, dropped);

    [Fact]
    public void Without_snapshots_in_the_pipeline_the_offset_finds_every_intruder()
    {
        Search search = Runs.Clean(new Bounds { Window = 3, Snapshots = 0 }, Dropped.Epoch);
        Runs.HasReached(search, Reached.Intruder | Reached.AllAcked);
    }

    [Theory]
    [InlineData(1, 2, Violation.Duplicated)]
    [InlineData(2, 1, Violation.Lost)]
    [InlineData(3, 1, Violation.Lost)]
    internal void Without_the_fourth_rule_a_takeover_starts_from_a_state_that_never_was(
        int window,
        int parts,
        Violation violation
    ) => Runs.Found(violation, new Bounds { Window = window, Parts = parts }, Dropped.NamedSnapshot);

    [Fact]
    public void A_trace_tells_the_way_to_the_loss()
    {
        Search search = Runs.Found(Violation.Lost, new Bounds { Window = 2 }, Dropped.Prefix);
        Assert.Equal(
            """
            1. A is the owner, its claim of epoch 1 is stored as 1
            2. B has read up to 1 (snapshot 0, P0 Q0, next offset 0) and sends a claim of epoch 2, to be stored behind 1
            3. A sends P1 (offset 0, epoch 1), to be stored behind 1
            4. A sends P2 (offset 1, epoch 1), to be stored behind 2
            5. the stream stores claim of epoch 2 of B as 2, so it will refuse P1 (offset 0, epoch 1) of A
            6. the stream stores P2 (offset 1, epoch 1) of A as 3
            7. A hears that P2 (offset 1, epoch 1) is stored as 3 and acks P2
            => Lost
            """.ReplaceLineEndings("\n"),
            search.Trace
        );
    }
}
