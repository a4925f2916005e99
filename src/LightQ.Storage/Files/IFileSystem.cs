namespace LightQ.Storage.Files;

/// <summary>
/// Everything the journal asks of a file system: the one seam where faults and crashes can be planted.
/// </summary>
/// <remarks>
/// Every failure is an <see cref="IOException"/> (or <see cref="UnauthorizedAccessException"/>); see
/// <see cref="StorageIOException"/>.
/// </remarks>
internal interface IFileSystem
{
    /// <summary>Whether so many files are open that unused ones should be closed at once.</summary>
    bool IsCrowded => false;

    /// <summary>Opens a file as <paramref name="mode"/> says.</summary>
    IStorageFile Open(string path, OpenMode mode);

    /// <summary>Gives a file another name, replacing what has that name.</summary>
    void Rename(string from, string to);

    /// <summary>Removes a file's name; no error when there is none. Open descriptors and mappings stay valid.</summary>
    void Delete(string path);

    /// <summary>Removes an empty directory; no error when there is none.</summary>
    void DeleteDirectory(string path);

    /// <summary>Makes one directory, in one that exists; no error when it is there.</summary>
    void MakeDirectory(string path);

    /// <summary>Whether there is a directory with something in it.</summary>
    bool HasEntries(string directory);

    /// <summary>Makes creations, renames and removals in a directory survive a power cut.</summary>
    void SyncDirectory(string path);

    /// <summary>
    /// Puts everything on the disk that was written to the file system that a directory lies on, names too: one call
    /// for thousands of files.
    /// </summary>
    /// <returns>False where there is no such call: then each file and directory has to be synced.</returns>
    bool TrySyncAll(string directory) => false;

    /// <summary>Whether a file has that name.</summary>
    bool Exists(string path);

    /// <summary>Names (without directory) of the files in a directory.</summary>
    IReadOnlyList<string> List(string directory);

    /// <summary>Bytes that can still be allocated where the directory lies.</summary>
    long FreeBytes(string directory);
}
