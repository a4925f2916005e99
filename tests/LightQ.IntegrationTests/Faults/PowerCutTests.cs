using LightQ.Client;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Faults;

/// <summary>D2: the disk under the broker loses its power, with everything that was not synced.</summary>
[Collection(FaultCollection.Name)]
[Trait("Fault", "D2")]
[Trait("Tier", "C")]
public sealed class PowerCutTests
{
    private const int Megabytes = 640;
    private static readonly string[] Kinds = ["ext4", "xfs"];

    [Fact]
    [Trait("Plain", "no")]
    public async Task A_power_cut_loses_nothing_that_was_synced()
    {
        LoopFileSystem[] disks = [.. Kinds.Select(kind => LoopFileSystem.Create(kind, Megabytes))];
        try
        {
            var run = new FaultRun(
                "D2",
                "power cut on ext4 and xfs under load, rolls, creations, deletions and checkpoints"
            );
            var cycles = new CrashCycles(
                run,
                "D2",
                (variant, _) => new FaultLoad(variant, Durability.Fsync, mayFail: true),
                FaultLoad.Control
            );
            int each = FaultRun.Times(c: 20, n: 1_000) / Kinds.Length;
            await Task.WhenAll(
                disks.Select(
                    (disk, lane) =>
                        cycles.RunAsync(lane, each, disk.Path, (broker, random) => CutAsync(disk, broker, random))
                )
            );
            cycles.Conclude();
        }
        finally
        {
            foreach (LoopFileSystem disk in disks)
                disk.Dispose();
        }
    }

    private static async Task CutAsync(LoopFileSystem disk, FaultBroker broker, Random random)
    {
        disk.Cut(flushLog: random.Next(2) == 0);
        // Time for an ack that it must not give now.
        await Task.Delay(random.Next(30), TestContext.Current.CancellationToken);
        await broker.KillAsync();
        disk.Remount();
    }
}
