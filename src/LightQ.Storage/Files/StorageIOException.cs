namespace LightQ.Storage.Files;

/// <summary>A system call on a file failed.</summary>
internal sealed class StorageIOException(string operation, string path, int error)
    : IOException($"{operation} of '{path}' failed: {Text(error)}.")
{
    /// <summary>The name of an operation that syncs.</summary>
    public const string Sync = "fdatasync",
        SyncDirectory = "fsync",
        SyncAll = "syncfs";

    private const int NoSpace = 28;
    private const int QuotaExceeded = 122;
    private const int WindowsDiskFull = unchecked((int)0x80070070);

    /// <summary>The system's error number.</summary>
    public int Error { get; } = error;

    /// <summary>What failed and why, without the file: for clients.</summary>
    public string Summary { get; } = $"{operation} failed: {Text(error)}";

    /// <summary>
    /// Whether it was to put on the disk what had been written: whatever the error is, some of that may be lost, and to
    /// try again would not tell.
    /// </summary>
    public bool IsSync { get; } = operation is Sync or SyncDirectory or SyncAll;

    /// <summary>Whether the process has no descriptor left, which passes.</summary>
    public bool IsOutOfDescriptors => Error == Libc.TooManyOpenFiles;

    /// <summary>The reserve would be touched: refused before the system refuses.</summary>
    public static StorageIOException DiskFull(string path) => new("allocation", path, NoSpace);

    /// <summary>Whether an operation failed for want of space.</summary>
    public static bool IsDiskFull(Exception exception) =>
        exception switch
        {
            StorageIOException io => io.Error is NoSpace or QuotaExceeded,
            IOException io => io.HResult is NoSpace or WindowsDiskFull,
            _ => false,
        };

    /// <summary>
    /// Whether something was refused for want of space and lost nothing: it can be written again when space returns.
    /// </summary>
    public static bool CanBeWrittenLater(Exception exception) =>
        IsDiskFull(exception) && (Mutation.SyncAgain || exception is not StorageIOException { IsSync: true });

    private static string Text(int error) =>
        $"{System.Runtime.InteropServices.Marshal.GetPInvokeErrorMessage(error)} (error {error})";
}
