using LightQ.Storage.Files;

namespace LightQ.Storage.Backups;

/// <summary>Directories that only their owner can look into.</summary>
internal static class OwnedDirectory
{
    /// <summary>What a file system puts into its root.</summary>
    private const string LostAndFound = "lost+found";

    /// <summary>Makes a directory and those above it that are missing.</summary>
    public static void Create(string path)
    {
        if (Directory.Exists(path))
            return;
        if (Path.GetDirectoryName(path) is { Length: > 0 } parent)
            Create(parent);
        PlatformFileSystem.Choose().MakeDirectory(path);
    }

    /// <summary>Makes a file that only its owner can read.</summary>
    public static IStorageFile CreateFile(IFileSystem files, string path)
    {
        IStorageFile file = files.Open(path, OpenMode.Create);
        if (!OperatingSystem.IsWindows())
            File.SetUnixFileMode(path, UnixFileMode.UserRead | UnixFileMode.UserWrite);
        return file;
    }

    /// <summary>Puts files of a directory on the disk, and the names of everything in it.</summary>
    public static void Sync(IFileSystem files, string path, IEnumerable<BackupFile> written)
    {
        if (files.TrySyncAll(path))
            return;
        foreach (BackupFile entry in written)
        {
            using IStorageFile file = files.Open(BackupLayout.PathOf(path, entry.Path), OpenMode.ReadWrite);
            file.Sync();
        }
        foreach (
            string directory in Directory.EnumerateDirectories(path, "*", SearchOption.AllDirectories).Append(path)
        )
        {
            files.SyncDirectory(directory);
        }
    }

    /// <summary>Whether there is a directory with something in it.</summary>
    public static bool HasContent(string path) =>
        Directory.Exists(path)
        && Directory.EnumerateFileSystemEntries(path).Any(entry => Path.GetFileName(entry) != LostAndFound);
}
