using LightQ.Storage.Files;

namespace LightQ.Storage.Recovery;

/// <summary>The file <c>checkpoint</c>: two slots, written in turn, so that a torn write leaves the one before.</summary>
/// <remarks>One thread at a time.</remarks>
internal sealed class CheckpointFile : IDisposable
{
    public const string Name = "checkpoint";

    private readonly IStorageFile _file;
    private ulong _generation;

    private CheckpointFile(IStorageFile file) => _file = file;

    /// <summary>The newest valid slot when the file was opened; null when there was none.</summary>
    public Checkpoint? Last { get; private set; }

    public static CheckpointFile Open(IFileSystem files, string directory)
    {
        string path = Path.Combine(directory, Name);
        bool made = !files.Exists(path);
        IStorageFile file = files.Open(path, OpenMode.OpenOrCreate);
        try
        {
            var result = new CheckpointFile(file);
            if (made)
            {
                file.Allocate(2 * Checkpoint.SlotSize);
                file.Sync();
                files.SyncDirectory(directory);
            }
            else
            {
                result.Last = ReadNewest(file, out _);
                result._generation = result.Last?.Generation ?? 0;
            }
            return result;
        }
        catch
        {
            file.Dispose();
            throw;
        }
    }

    /// <summary>Writes the older slot and syncs it.</summary>
    public void Write(Checkpoint checkpoint)
    {
        checkpoint = checkpoint with { Generation = ++_generation };
        Span<byte> slot = stackalloc byte[Checkpoint.SlotSize];
        slot.Clear();
        checkpoint.Write(slot);
        _file.Write(slot, (long)(_generation % 2) * Checkpoint.SlotSize);
        _file.Sync();
    }

    public void Dispose() => _file.Dispose();

    /// <summary>The newest valid slot of a file.</summary>
    /// <param name="file">The file.</param>
    /// <param name="hasDamagedSlot">Whether a slot that was written is not valid.</param>
    public static Checkpoint? ReadNewest(IStorageFile file, out bool hasDamagedSlot)
    {
        Checkpoint? newest = null;
        hasDamagedSlot = false;
        Span<byte> buffer = stackalloc byte[Checkpoint.SlotSize];
        for (int i = 0; i < 2; i++)
        {
            ReadOnlySpan<byte> slot = buffer[..file.Read(buffer, (long)i * Checkpoint.SlotSize)];
            if (!Checkpoint.TryRead(slot, out Checkpoint found))
                hasDamagedSlot |= slot.ContainsAnyExcept((byte)0);
            else if (newest is null || found.Generation > newest.Value.Generation)
                newest = found;
        }
        return newest;
    }
}
