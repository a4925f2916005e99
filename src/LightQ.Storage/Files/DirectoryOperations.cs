namespace LightQ.Storage.Files;

/// <summary>What every platform does the same way: names and directories.</summary>
internal abstract class DirectoryOperations : IFileSystem
{
    public abstract IStorageFile Open(string path, OpenMode mode);

    public abstract void SyncDirectory(string path);

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

    public void CreateDirectory(string path)
    {
        if (Directory.Exists(path))
            return;
        string? parent = Path.GetDirectoryName(path);
        if (parent is { Length: > 0 } && !Directory.Exists(parent))
            CreateDirectory(parent);
        Directory.CreateDirectory(path);
        if (parent is { Length: > 0 })
            SyncDirectory(parent);
    }

    public bool Exists(string path) => File.Exists(path);

    public IReadOnlyList<string> List(string directory) =>
        Directory.Exists(directory) ? [.. Directory.EnumerateFiles(directory).Select(path => Path.GetFileName(path)!)] : [];

    public long FreeBytes(string directory) => new DriveInfo(directory).AvailableFreeSpace;
}
