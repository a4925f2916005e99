namespace LightQ.Tests.Storage.Faults;

/// <summary>What was done to a disk.</summary>
internal enum DiskOperationKind
{
    CreateFile,
    CreateDirectory,
    Rename,
    Delete,
    DeleteDirectory,
    SyncDirectory,
    Write,
    SetLength,
    Sync,

    /// <summary>
    /// A sync that said EIO: as a kernel does, the pages stay readable, count as clean, and never reach the disk.
    /// </summary>
    FailedSync,
}

/// <summary>One change of a disk, so that it can be made again on another.</summary>
/// <param name="Kind">What.</param>
/// <param name="Path">The file or directory; for changes of content only for people.</param>
/// <param name="Target">The new name of a rename.</param>
/// <param name="File">The number of the file whose content it concerns: files are numbered as they are made.</param>
/// <param name="Position">Where a write begins, or the new length.</param>
/// <param name="Data">What is written.</param>
internal sealed record DiskOperation(
    DiskOperationKind Kind,
    string Path,
    string Target = "",
    int File = -1,
    long Position = 0,
    byte[]? Data = null
)
{
    public override string ToString() =>
        Kind switch
        {
            DiskOperationKind.Rename => $"rename {Path} to {System.IO.Path.GetFileName(Target)}",
            DiskOperationKind.Write => $"write {Path} at {Position}, {Data!.Length} bytes",
            DiskOperationKind.SetLength => $"set length of {Path} to {Position}",
            _ => $"{Kind} {Path}",
        };
}
