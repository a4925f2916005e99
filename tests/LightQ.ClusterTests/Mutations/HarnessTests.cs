using LightQ.ClusterTests.Nats;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.ClusterTests.Mutations;

/// <summary>
/// The harness is worth something: nodes that leave out a rule of the log are found out, and the real ones, in the same
/// rounds, are not. A search of all states does the same for the model (<see cref="Model.MutationTests"/>).
/// </summary>
[Collection(NatsTests.Name)]
public sealed class HarnessTests(NatsFixture nats)
{
    private const int Rounds = 10;

    [Theory]
    [InlineData(Mutation.NoCondition)]
    [InlineData(Mutation.TwoUnderWay)]
    [InlineData(Mutation.AckByAnswerAlone)]
    [InlineData(Mutation.NoEpochCheck)]
    [InlineData(Mutation.NoOffsetCheck)]
    [InlineData(Mutation.LastSnapshot)]
    [InlineData(Mutation.ResendAfterUnknown)]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task A_rule_that_is_left_out_is_found_out(Mutation mutation)
    {
        FaultRun.RequireTier("It runs rounds of some seconds.");
        string? fault = await new MutationRounds(nats, mutation).FindFaultAsync(Rounds);
        Assert.True(fault is not null, $"{mutation}: nothing was found in {Rounds} rounds.");
        TestContext.Current.TestOutputHelper?.WriteLine(fault);
    }

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Tier", "C")]
    public async Task Nodes_that_leave_out_none_are_found_no_fault_with()
    {
        FaultRun.RequireTier("It runs rounds of some seconds.");
        var rounds = new MutationRounds(nats, Mutation.None);
        Assert.Null(await rounds.FindFaultAsync(rounds: 3));
        Assert.True(rounds.Void > 0, "Nothing was in the streams that does not count.");
    }
}
