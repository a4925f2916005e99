using LightQ.Client;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Faults;

/// <summary>
/// D1: the broker is killed at any moment, also while it recovers, and started again on what it left.
/// </summary>
[Collection(FaultCollection.Name)]
[Trait("Tier", "C")]
public sealed class KillTests
{
    private const int Lanes = 2;

    [Fact]
    [Trait("Fault", "D1")]
    public Task Kill_9_loses_nothing_that_was_written_and_repeats_nothing_of_idempotent_producers() =>
        RunAsync(
            "D1",
            "kill -9 after 20 to 500 ms, 4 producers, 4 consumers, all ack levels",
            partitions: 1,
            FaultRun.Times(plain: 2, c: 30, n: 2_000)
        );

    [Fact]
    [Trait("Plain", "no")]
    [Trait("Fault", "D1.partitions")]
    public Task Kill_9_loses_as_little_of_topics_with_four_partitions()
    {
        FaultRun.RequireTier("With one partition it is the same.");
        return RunAsync(
            "D1.partitions",
            "kill -9 after 20 to 500 ms, 4 producers, 4 consumers, all ack levels, topics of 4 partitions",
            partitions: 4,
            FaultRun.Times(c: 4, n: 500)
        );
    }

    private static async Task RunAsync(string row, string fault, int partitions, int times)
    {
        var run = new FaultRun(row, fault);
        var cycles = new CrashCycles(
            run,
            row,
            (variant, _) => new FaultLoad(variant, Durability.Written, partitions),
            FaultLoad.Control
        );
        using var directory = new TemporaryDirectory();
        await Task.WhenAll(
            Enumerable
                .Range(0, Lanes)
                .Select(lane => cycles.RunAsync(lane, times / Lanes, directory.Path, (broker, _) => broker.KillAsync()))
        );
        cycles.Conclude();
    }
}
