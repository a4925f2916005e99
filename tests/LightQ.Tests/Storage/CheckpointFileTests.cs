using LightQ.Storage.Files;
using LightQ.Storage.Recovery;
using LightQ.Storage.Segments;
using LightQ.Tests.Storage.Faults;
using Xunit;

namespace LightQ.Tests.Storage;

public sealed class CheckpointFileTests
{
    private const string Directory = "/data";

    /// <summary>
    /// A write that the disk refuses may have torn its slot, so every further try goes there, and the other slot stays.
    /// </summary>
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void A_write_that_is_tried_again_leaves_the_newest_whole_slot_alone(int failures)
    {
        var disk = new SimulatedDisk();
        var files = new SimulatedFileSystem(disk);
        files.MakeDirectory(Directory);
        CheckpointFile checkpoints = CheckpointFile.Open(files, Directory, out _, out _);
        checkpoints.Write(At(10));
        checkpoints.Write(At(20));
        for (int i = 0; i < failures; i++)
        {
            files.FailsSync = _ => true;
            Assert.ThrowsAny<IOException>(() => checkpoints.Write(At(30)));
            Assert.Equal(20, NewestOf(Torn(disk, slot: 1)));
        }
        files.FailsSync = _ => false;
        checkpoints.Write(At(30));
        Assert.Equal(20, NewestOf(Torn(disk, slot: 1)));
        checkpoints.Write(At(40));
        Assert.Equal(30, NewestOf(Torn(disk, slot: 0)));
    }

    private static Checkpoint At(long offset) =>
        new(0, 1, 0, new LogEnd(offset, offset, 0, 1, 0), 1, Clean: false, new LogKey(1, 2));

    /// <summary>The file with one of its slots overwritten.</summary>
    private static SimulatedFileSystem Torn(SimulatedDisk disk, int slot)
    {
        SimulatedDisk copy = disk.Clone();
        ((SimulatedFile)copy.Find($"{Directory}/{CheckpointFile.Name}")!).Damage(bytes =>
        {
            bytes.AsSpan(slot * Checkpoint.SlotSize, Checkpoint.SlotSize).Fill(0xA5);
            return bytes;
        });
        return new SimulatedFileSystem(copy);
    }

    private static long? NewestOf(SimulatedFileSystem files)
    {
        using IStorageFile file = files.Open($"{Directory}/{CheckpointFile.Name}", OpenMode.Read);
        return CheckpointFile.ReadNewest(file, out _)?.Durable.Offset;
    }
}
