// Unsafe: a system call takes an address.
using System.Runtime.InteropServices;

namespace LightQ.Server.Diagnosis;

/// <summary>What only the system itself can be asked of a file system.</summary>
internal static unsafe partial class FileSystemStatus
{
    private const int StatWords = 32; // struct statvfs has 112 bytes.
    private const int Files = 5,
        FreeFiles = 7;

    /// <summary>
    /// Files that can still be made on a file system, and how many it can hold at all; null where it does not count
    /// them.
    /// </summary>
    public static (long Free, long All)? Inodes(string path)
    {
        if (!OperatingSystem.IsLinux() || !Environment.Is64BitProcess)
            return null;
        ulong* stat = stackalloc ulong[StatWords];
        return Read(path, stat) == 0 && stat[Files] != 0 ? ((long)stat[FreeFiles], (long)stat[Files]) : null;
    }

    [LibraryImport("libc", EntryPoint = "statvfs", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    private static partial int Read(string path, ulong* status);
}
