using System.Collections.Concurrent;
using LightQ.Storage.Segments;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.Tests.Storage.Faults;

/// <summary>One bit changes on the disk, in any byte of any file.</summary>
public sealed class BitRotTests
{
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    [Trait("Fault", "D6")]
    [Trait("Tier", "C")]
    public void A_changed_bit_is_never_delivered(bool stopped)
    {
        var run = new FaultRun(stopped ? "D6.stopped" : "D6.killed", "one bit of a file changes");
        var fixture = new DamageFixture(stopped, run.Seed);
        var wrong = new ConcurrentQueue<string>();
        foreach (
            (string directory, Func<DamageCheck, Func<SimulatedDisk, DamageOutcome>> opener) in new (
                string,
                Func<DamageCheck, Func<SimulatedDisk, DamageOutcome>>
            )[]
            {
                (DamageFixture.Topic, check => check.Topic),
                (DamageFixture.Catalog, check => check.Catalog),
                (DamageFixture.Groups, check => check.Positions),
            }
        )
        {
            foreach (string name in ((SimulatedDirectory)fixture.Disk.Find(directory)!).Current.Keys.Order())
                Rot(run, fixture, $"{directory}/{name}", opener, wrong);
        }
        run.Count("silent", wrong.Count);
        run.Report();
        Assert.True(
            wrong.IsEmpty,
            $"Seed {run.Seed}: {wrong.Count} changes went unnoticed.\n{string.Join('\n', wrong.Take(20))}"
        );
        Assert.True(run["segment Gap"] > 0 || !stopped, "No change of a sealed batch was ever reported as a gap.");
        Assert.True(run["segment Refused"] > 0, "No change of a segment was ever refused.");
        Assert.True(
            run["epochs Harmless"] > 0 && run["epochs Refused"] == 0,
            "A damaged epochs file is to be rebuilt."
        );
    }

    private static void Rot(
        FaultRun run,
        DamageFixture fixture,
        string path,
        Func<DamageCheck, Func<SimulatedDisk, DamageOutcome>> opener,
        ConcurrentQueue<string> wrong
    )
    {
        ReadOnlySpan<byte> content = ((SimulatedFile)fixture.Disk.Find(path)!).Current;
        int length = content.Length,
            used = content.LastIndexOfAnyExcept((byte)0) + 1;
        int step = FaultRun.Times(97, 3, 1),
            blankStep = FaultRun.Times(997, 61, 1),
            bits = FaultRun.Times(1, 1, 8);
        Random random = run.RandomFor(length);
        var flips = new List<(int At, int Bit)>();
        for (int at = random.Next(Math.Min(step, length)); at < length; at += at < used ? step : blankStep)
        {
            for (int bit = 0; bit < bits; bit++)
                flips.Add((at, bits == 8 ? bit : random.Next(8)));
        }
        var outcomes = new ConcurrentBag<DamageOutcome>();
        Parallel.ForEach(
            Partitioner.Create(0, flips.Count),
            range =>
            {
                using var check = new DamageCheck(fixture);
                for (int i = range.Item1; i < range.Item2; i++)
                {
                    (int at, int bit) = flips[i];
                    SimulatedDisk disk = fixture.Disk.Clone();
                    ((SimulatedFile)disk.Find(path)!).Damage(bytes =>
                    {
                        bytes[at] ^= (byte)(1 << bit);
                        return bytes;
                    });
                    DamageOutcome outcome = opener(check)(disk);
                    outcomes.Add(outcome);
                    if (outcome == DamageOutcome.Silent)
                        wrong.Enqueue($"{path}, byte {at}, bit {bit}: {check.Detail}");
                }
            }
        );
        foreach (IGrouping<DamageOutcome, DamageOutcome> group in outcomes.GroupBy(outcome => outcome))
            run.Count($"{KindOf(path)} {group.Key}", group.Count());
        run.Count("bits", flips.Count);
    }

    private static string KindOf(string path) =>
        path switch
        {
            _ when path.StartsWith(DamageFixture.Catalog, StringComparison.Ordinal) => "catalog",
            _ when path.StartsWith(DamageFixture.Groups, StringComparison.Ordinal) => "positions",
            _ when path.EndsWith(SegmentName.Log, StringComparison.Ordinal) => "segment",
            _ when path.EndsWith(SegmentName.Index, StringComparison.Ordinal) => "index",
            _ when path.EndsWith(SegmentName.Producers, StringComparison.Ordinal) => "producers",
            _ => Path.GetFileName(path),
        };
}
