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
        if (OperatingSystem.IsWindows())
            Directory.CreateDirectory(path);
        else
            Directory.CreateDirectory(path, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute);
    }

    /// <summary>Whether there is a directory with something in it.</summary>
    public static bool HasContent(string path) =>
        Directory.Exists(path) && Directory.EnumerateFileSystemEntries(path).Any(entry => Path.GetFileName(entry) != LostAndFound);
}
