using LightQ.Storage.Files;

namespace LightQ.Storage.Recovery;

/// <summary>
/// The file <c>checkpoint</c>: two slots, written in turn, so that a torn write leaves the one before.
/// </summary>
/// <remarks>One thread at a time. Opened for each write: those are rare, and descriptors are not.</remarks>
internal sealed class CheckpointFile
{
    public const string Name = "checkpoint";

    private readonly IFileSystem _files;
    private readonly string _directory;
    private ulong _generation;

    private CheckpointFile(IFileSystem files, string directory) => (_files, _directory) = (files, directory);

    /// <summary>Opens it, or makes it empty.</summary>
    /// <param name="files">Where.</param>
    /// <param name="directory">The journal's.</param>
    /// <param name="last">The newest valid slot; null when there is none.</param>
    /// <param name="hasDamagedSlot">Whether a slot is damaged: it may have been the newest.</param>
    public static CheckpointFile Open(
        IFileSystem files,
        string directory,
        out Checkpoint? last,
        out bool hasDamagedSlot
    )
    {
        string path = Path.Combine(directory, Name);
        bool made = !files.Exists(path);
        using IStorageFile file = files.Open(path, OpenMode.OpenOrCreate);
        var result = new CheckpointFile(files, directory);
        last = null;
        hasDamagedSlot = false;
        if (made)
        {
            file.Allocate(2 * Checkpoint.SlotSize);
            file.Sync();
            files.SyncDirectory(directory);
        }
        else
        {
            last = ReadNewest(file, out hasDamagedSlot);
            result._generation = last?.Generation ?? 0;
        }
        return result;
    }

    /// <summary>Writes the older slot and syncs it.</summary>
    public void Write(Checkpoint checkpoint)
    {
        checkpoint = checkpoint with { Generation = _generation + 1 };
        Span<byte> slot = stackalloc byte[Checkpoint.SlotSize];
        slot.Clear();
        checkpoint.Write(slot);
        using IStorageFile file = _files.Open(Path.Combine(_directory, Name), OpenMode.ReadWrite);
        file.Write(slot, (long)(checkpoint.Generation % 2) * Checkpoint.SlotSize);
        file.Sync();
        // Not before the sync: another try must not overwrite the other slot, which is valid.
        _generation = checkpoint.Generation;
    }

    /// <summary>The content of a file with one checkpoint in it.</summary>
    public static byte[] Encode(in Checkpoint checkpoint)
    {
        byte[] content = new byte[2 * Checkpoint.SlotSize];
        checkpoint.Write(content.AsSpan((int)(checkpoint.Generation % 2) * Checkpoint.SlotSize));
        return content;
    }

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
