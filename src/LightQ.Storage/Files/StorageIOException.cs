namespace LightQ.Storage.Files;

/// <summary>A system call on a file failed.</summary>
internal sealed class StorageIOException(string operation, string path, int error)
    : IOException($"{operation} of '{path}' failed: {System.Runtime.InteropServices.Marshal.GetPInvokeErrorMessage(error)} (error {error}).")
{
    private const int NoSpace = 28;
    private const int QuotaExceeded = 122;
    private const int WindowsDiskFull = unchecked((int)0x80070070);

    /// <summary>The system's error number.</summary>
    public int Error { get; } = error;

    /// <summary>Whether the process has no descriptor left, which passes.</summary>
    public bool IsOutOfDescriptors => Error == Libc.TooManyOpenFiles;

    /// <summary>The reserve would be touched: refused before the system refuses.</summary>
    public static StorageIOException DiskFull(string path) => new("allocation", path, NoSpace);

    /// <summary>Whether an operation failed for want of space.</summary>
    public static bool IsDiskFull(Exception exception) => exception switch
    {
        StorageIOException io => io.Error is NoSpace or QuotaExceeded,
        IOException io => io.HResult is NoSpace or WindowsDiskFull,
        _ => false,
    };
}
