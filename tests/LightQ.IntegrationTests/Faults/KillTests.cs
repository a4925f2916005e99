using LightQ.Protocol;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Faults;

/// <summary>D1: the broker is killed at any moment, also while it recovers, and started again on what it left.</summary>
[Collection(FaultCollection.Name)]
[Trait("Fault", "D1")]
[Trait("Tier", "C")]
public sealed class KillTests
{
    private const int Lanes = 2;

    [Fact]
    public async Task Kill_9_loses_nothing_that_was_written_and_repeats_nothing_of_idempotent_producers()
    {
        var run = new FaultRun("D1", "kill -9 after 20 to 500 ms, 4 producers, 4 consumers, all ack levels");
        var cycles = new CrashCycles(run, "D1", (variant, _) => new FaultLoad(variant, Durability.Written), FaultLoad.Control);
        int each = FaultRun.Times(plain: 2, c: 100, n: 2_000) / Lanes;
        using var directory = new TemporaryDirectory();
        await Task.WhenAll(Enumerable.Range(0, Lanes).Select(lane => cycles.RunAsync(lane, each, directory.Path, (broker, _) => broker.KillAsync())));
        cycles.Conclude();
    }
}
