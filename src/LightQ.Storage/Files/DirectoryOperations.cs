namespace LightQ.Storage.Files;

/// <summary>What every platform does the same way: names and directories.</summary>
internal abstract class DirectoryOperations : IFileSystem
{
    public virtual bool IsCrowded => false;

    public abstract IStorageFile Open(string path, OpenMode mode);

    public abstract void SyncDirectory(string path);

    public virtual bool TrySyncAll(string directory) => false;

    public void Rename(string from, string to) => File.Move(from, to, overwrite: true);

    public void Delete(string path)
    {
        if (File.Exists(path))
            File.Delete(path);
    }

    public void DeleteDirectory(string path)
    {
        if (Directory.Exists(path))
            Directory.Delete(path);
    }

    /// <summary>For its owner alone: it holds messages.</summary>
    public void MakeDirectory(string path)
    {
        if (OperatingSystem.IsWindows())
            Directory.CreateDirectory(path);
        else
            Directory.CreateDirectory(path, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute);
    }

    public bool HasEntries(string directory) =>
        Directory.Exists(directory) && Directory.EnumerateFileSystemEntries(directory).Any();

    public bool Exists(string path) => File.Exists(path);

    public IReadOnlyList<string> List(string directory) =>
        Directory.Exists(directory)
            ? [.. Directory.EnumerateFiles(directory).Select(path => Path.GetFileName(path)!)]
            : [];

    public long FreeBytes(string directory) => new DriveInfo(directory).AvailableFreeSpace;
}
