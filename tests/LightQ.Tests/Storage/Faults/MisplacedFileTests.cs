using System.Buffers.Binary;
using LightQ.Protocol.Checksums;
using LightQ.Storage.Recovery;
using LightQ.Storage.Segments;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.Tests.Storage.Faults;

/// <summary>Files are deleted, emptied, renamed, of a later version, or from elsewhere.</summary>
public sealed class MisplacedFileTests
{
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    [Trait("Fault", "D8")]
    [Trait("Tier", "C")]
    public void Misplaced_files_are_never_silent_and_a_refused_start_overwrites_nothing(bool stopped)
    {
        var run = new FaultRun(
            stopped ? "D8.stopped" : "D8.killed",
            "files deleted, emptied, renamed, of a later version, of another topic"
        );
        var wrong = new List<string>();
        for (int round = 0; round < FaultRun.Times(1, 5, 50); round++)
        {
            var fixture = new DamageFixture(stopped, run.Seed + round);
            using var check = new DamageCheck(fixture);
            foreach ((string kind, string name, Action<SimulatedDirectory> mix) in Mixes(fixture))
            {
                SimulatedDisk disk = fixture.Disk.Clone();
                var directory = (SimulatedDirectory)disk.Find(DamageFixture.Topic)!;
                mix(directory);
                Dictionary<string, byte[]> before = Content(directory);
                DamageOutcome outcome = check.Topic(disk);
                run.Count($"{kind} {outcome}");
                if (outcome == DamageOutcome.Silent)
                    wrong.Add($"{kind} {name}: {check.Detail}");
                if (outcome == DamageOutcome.Refused && Overwritten(before, Content(directory)) is { } file)
                    wrong.Add($"{kind} {name}: refused, and {file} is not what it was");
                if (kind is "later version" or "other topic" && outcome != DamageOutcome.Refused)
                    wrong.Add($"{kind} {name}: {outcome}");
            }
        }
        run.Count("silent", wrong.Count);
        run.Report();
        Assert.True(wrong.Count == 0, $"Seed {run.Seed}: {string.Join('\n', wrong.Take(20))}");
    }

    private static IEnumerable<(string Kind, string Name, Action<SimulatedDirectory> Mix)> Mixes(DamageFixture fixture)
    {
        var original = (SimulatedDirectory)fixture.Disk.Find(DamageFixture.Topic)!;
        string[] names = [.. original.Current.Keys.Order()];
        string[] segments = [.. names.Where(name => name.EndsWith(SegmentName.Log, StringComparison.Ordinal))];
        foreach (string name in names)
        {
            yield return ("deleted", name, directory => directory.Remove(name));
            yield return ("emptied", name, directory => FileIn(directory, name).Damage(_ => []));
        }
        foreach (string name in segments)
        {
            yield return ("renamed", name, directory => directory.Rename(name, SegmentName.Of(9, SegmentName.Log)));
            yield return (
                "other topic",
                name,
                directory =>
                    FileIn(directory, name)
                        .Damage(_ =>
                            ((SimulatedFile)fixture.Disk.Find($"{DamageFixture.OtherTopic}/{name}")!).Current.ToArray()
                        )
            );
            yield return (
                "later version",
                name,
                directory => FileIn(directory, name).Damage(bytes => WithVersion(bytes, SegmentHeader.Size))
            );
        }
        yield return (
            "later version",
            CheckpointFile.Name,
            directory =>
                FileIn(directory, CheckpointFile.Name)
                    .Damage(bytes =>
                    {
                        WithVersion(bytes.AsSpan(0, Checkpoint.SlotSize), Checkpoint.Size);
                        WithVersion(bytes.AsSpan(Checkpoint.SlotSize), Checkpoint.Size);
                        return bytes;
                    })
        );
        yield return (
            "later version",
            EpochFile.Name,
            directory => FileIn(directory, EpochFile.Name).Damage(bytes => WithVersion(bytes, bytes.Length))
        );
        yield return ("swapped", "first two segments", directory => Swap(directory, segments[0], segments[1]));
    }

    private static void Swap(SimulatedDirectory directory, string first, string second)
    {
        directory.Rename(first, "aside");
        directory.Rename(second, first);
        directory.Rename("aside", second);
    }

    private static byte[] WithVersion(byte[] bytes, int size)
    {
        WithVersion(bytes.AsSpan(), size);
        return bytes;
    }

    /// <summary>Header pages, checkpoints and epochs alike: version at 8, checksum of the rest at 12.</summary>
    private static void WithVersion(Span<byte> bytes, int size)
    {
        if (!bytes[..size].ContainsAnyExcept((byte)0))
            return;
        BinaryPrimitives.WriteUInt32LittleEndian(bytes[8..], 99);
        BinaryPrimitives.WriteUInt32LittleEndian(
            bytes[12..],
            Crc32C.Append(Crc32C.Compute(bytes[..12]), bytes[16..size])
        );
    }

    private static SimulatedFile FileIn(SimulatedDirectory directory, string name) =>
        (SimulatedFile)directory.Current[name];

    private static Dictionary<string, byte[]> Content(SimulatedDirectory directory) =>
        directory
            .Current.Where(entry => entry.Value is SimulatedFile)
            .ToDictionary(entry => entry.Key, entry => ((SimulatedFile)entry.Value).Current.ToArray());

    private static string? Overwritten(Dictionary<string, byte[]> before, Dictionary<string, byte[]> after) =>
        before
            .FirstOrDefault(file =>
                !after.TryGetValue(file.Key, out byte[]? now) || !now.AsSpan().SequenceEqual(file.Value)
            )
            .Key;
}
