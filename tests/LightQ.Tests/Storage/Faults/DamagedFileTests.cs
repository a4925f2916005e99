using System.Collections.Concurrent;
using LightQ.Protocol.Batches;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.Tests.Storage.Faults;

/// <summary>Whole pieces of files are cut off, overwritten or put elsewhere.</summary>
public sealed class DamagedFileTests
{
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    [Trait("Fault", "D7")]
    [Trait("Tier", "C")]
    public void Damaged_pieces_of_a_topic_are_never_silent(bool stopped)
    {
        var run = new FaultRun(
            stopped ? "D7.stopped" : "D7.killed",
            "files cut, blocks overwritten, batches swapped and spliced"
        );
        var fixture = new DamageFixture(stopped, run.Seed);
        var wrong = new ConcurrentQueue<string>();
        Try(run, fixture, "cut", Cuts(fixture, FaultRun.Times(509, 61, 1)), wrong);
        Try(run, fixture, "blocks", Blocks(fixture, FaultRun.Times(4096, 512, 64)), wrong);
        Try(run, fixture, "swapped", Swaps(fixture, FaultRun.Times(17, 1, 1)), wrong);
        Try(run, fixture, "spliced", Splices(fixture, FaultRun.Times(5, 1, 1)), wrong);
        Try(run, fixture, "stale tail", StaleTails(fixture), wrong);
        run.Count("silent", wrong.Count);
        run.Report();
        Assert.True(
            wrong.IsEmpty,
            $"Seed {run.Seed}: {wrong.Count} pieces of damage went unnoticed.\n{string.Join('\n', wrong.Take(20))}"
        );
        Assert.True(
            run["swapped Harmless"] == 0 && run["spliced Harmless"] == 0,
            "A batch in another's place was taken for it."
        );
    }

    /// <summary>Every file, cut at some lengths.</summary>
    private static IEnumerable<Damage> Cuts(DamageFixture fixture, int step)
    {
        foreach (string path in Files(fixture))
        {
            int length = File(fixture.Disk, path).Current.Length;
            for (int kept = 0; kept < length; kept += step)
            {
                int end = kept;
                yield return new Damage($"{path} cut to {end}", disk => File(disk, path).Damage(bytes => bytes[..end]));
            }
        }
    }

    /// <summary>Every file, with zeros or ones over a sector or a page.</summary>
    private static IEnumerable<Damage> Blocks(DamageFixture fixture, int step)
    {
        foreach (string path in Files(fixture))
        {
            int length = File(fixture.Disk, path).Current.Length;
            foreach (byte fill in (byte[])[0x00, 0xFF])
            {
                foreach (int block in (int[])[512, 4096])
                {
                    for (int at = 0; at < length; at += step)
                    {
                        int from = at,
                            count = Math.Min(block, length - at);
                        yield return new Damage(
                            $"{path} overwritten with {fill:x2} from {from}, {count} bytes",
                            disk =>
                                File(disk, path)
                                    .Damage(bytes =>
                                    {
                                        bytes.AsSpan(from, count).Fill(fill);
                                        return bytes;
                                    })
                        );
                    }
                }
            }
        }
    }

    /// <summary>Two batches of the topic in each other's place.</summary>
    private static IEnumerable<Damage> Swaps(DamageFixture fixture, int step)
    {
        (int, int)[] pairs =
        [
            .. from first in Enumerable.Range(0, fixture.Batches.Count)
            from second in Enumerable.Range(first + 1, fixture.Batches.Count - first - 1)
            select (first, second),
        ];
        for (int i = 0; i < pairs.Length; i += step)
        {
            StoredBatch first = fixture.Batches[pairs[i].Item1],
                second = fixture.Batches[pairs[i].Item2];
            yield return new Damage(
                $"batches {first.BaseOffset} and {second.BaseOffset} swapped",
                disk =>
                {
                    Put(disk, first, second.Bytes);
                    Put(disk, second, first.Bytes);
                }
            );
        }
    }

    /// <summary>
    /// A valid batch of another place, of another topic with the same offset, or of another life of this one.
    /// </summary>
    private static IEnumerable<Damage> Splices(DamageFixture fixture, int step)
    {
        for (int i = 0; i < fixture.Batches.Count; i += step)
        {
            StoredBatch here = fixture.Batches[i],
                elsewhere = fixture.Batches[(i + 7) % fixture.Batches.Count];
            yield return new Damage(
                $"batch {elsewhere.BaseOffset} over {here.BaseOffset}",
                disk => Put(disk, here, elsewhere.Bytes)
            );
            byte[] other = File(
                fixture.Disk,
                here.Path.Replace(DamageFixture.Topic, DamageFixture.OtherTopic, StringComparison.Ordinal)
            )
                .Current.Slice((int)here.FilePosition, here.Bytes.Length)
                .ToArray();
            Assert.Equal(here.BaseOffset, new BatchView(other).BaseOffset);
            yield return new Damage($"another topic's batch over {here.BaseOffset}", disk => Put(disk, here, other));
            byte[] life = (byte[])here.Bytes.Clone();
            var view = new BatchView(here.Bytes);
            BatchWriter.Stamp(
                life,
                new BatchStamp(
                    view.BaseOffset,
                    view.AppendTime,
                    view.LeaderEpoch + 1,
                    view.PreviousCrc ^ 1,
                    view.DurableBack,
                    view.Mac
                )
            );
            yield return new Damage($"another life's batch over {here.BaseOffset}", disk => Put(disk, here, life));
        }
    }

    /// <summary>
    /// Behind the end lie the batches of a segment that was used again: nothing of them may come back, and nothing may
    /// be refused.
    /// </summary>
    private static IEnumerable<Damage> StaleTails(DamageFixture fixture)
    {
        string last = fixture.Batches[^1].Path;
        int end = (int)fixture.Batches[^1].FilePosition + fixture.Batches[^1].Bytes.Length;
        foreach (StoredBatch first in fixture.Batches.Where(batch => batch.Path != last))
        {
            byte[] stale = File(fixture.Disk, first.Path).Current[(int)first.FilePosition..].ToArray();
            yield return new Damage(
                $"stale batches from {first.BaseOffset} on behind the end",
                IsHarmless: true,
                Do: disk =>
                    File(disk, last)
                        .Damage(bytes =>
                        {
                            stale.AsSpan(0, Math.Min(stale.Length, bytes.Length - end)).CopyTo(bytes.AsSpan(end));
                            return bytes;
                        })
            );
        }
    }

    private static void Try(
        FaultRun run,
        DamageFixture fixture,
        string kind,
        IEnumerable<Damage> damages,
        ConcurrentQueue<string> wrong
    )
    {
        var outcomes = new ConcurrentBag<DamageOutcome>();
        Damage[] all = [.. damages];
        Parallel.ForEach(
            Partitioner.Create(0, all.Length),
            range =>
            {
                using var check = new DamageCheck(fixture);
                foreach (Damage damage in all[range.Item1..range.Item2])
                {
                    SimulatedDisk disk = fixture.Disk.Clone();
                    damage.Do(disk);
                    DamageOutcome outcome = check.Topic(disk);
                    outcomes.Add(outcome);
                    if (outcome == DamageOutcome.Silent || (damage.IsHarmless && outcome != DamageOutcome.Harmless))
                        wrong.Enqueue($"{damage.Name}: {outcome}: {check.Detail}");
                }
            }
        );
        foreach (IGrouping<DamageOutcome, DamageOutcome> group in outcomes.GroupBy(outcome => outcome))
            run.Count($"{kind} {group.Key}", group.Count());
    }

    private static IEnumerable<string> Files(DamageFixture fixture) =>
        ((SimulatedDirectory)fixture.Disk.Find(DamageFixture.Topic)!)
            .Current.Keys.Order()
            .Select(name => $"{DamageFixture.Topic}/{name}");

    private static SimulatedFile File(SimulatedDisk disk, string path) => (SimulatedFile)disk.Find(path)!;

    private static void Put(SimulatedDisk disk, StoredBatch place, byte[] batch) =>
        File(disk, place.Path)
            .Damage(bytes =>
            {
                batch.CopyTo(bytes, place.FilePosition);
                return bytes;
            });

    private sealed record Damage(string Name, Action<SimulatedDisk> Do, bool IsHarmless = false);
}
