namespace LightQ.Storage.Files;

/// <summary>Directories whose names survive a power cut.</summary>
internal static class DurableDirectory
{
    /// <summary>Makes a directory and those above it, and puts their names on the disk.</summary>
    /// <remarks>
    /// Nothing is put into a directory before its name is durable. So one that is empty may have been left by a process
    /// that was killed in between, and is treated as if it were not there.
    /// </remarks>
    public static void CreateDirectory(this IFileSystem files, string path)
    {
        if (files.HasEntries(path))
            return;
        string? parent = Path.GetDirectoryName(path);
        if (parent is { Length: > 0 })
            files.CreateDirectory(parent);
        files.MakeDirectory(path);
        if (parent is { Length: > 0 })
            files.SyncDirectory(parent);
    }
}
