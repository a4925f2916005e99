// Unsafe: system calls take addresses.
using System.Runtime.InteropServices;

namespace LightQ.Cli.Doctor;

/// <summary>What only the system itself can be asked.</summary>
internal static unsafe partial class SystemCalls
{
    private const int ClockError = 5;
    private const int ClockWords = 64; // struct timex has 208 bytes.
    private const int StatWords = 32; // struct statvfs has 112 bytes.
    private const int Files = 5, FreeFiles = 7;

    /// <summary>Whether the kernel's clock is kept by somebody, such as NTP; null where it does not say.</summary>
    public static bool? IsClockSynchronized()
    {
        if (!OperatingSystem.IsLinux())
            return null;
        long* clock = stackalloc long[ClockWords];
        new Span<long>(clock, ClockWords).Clear(); // No mode: only asks.
        int state = AdjustClock(clock);
        return state < 0 ? null : state != ClockError;
    }

    /// <summary>Files that can still be made on a file system, and how many it can hold at all; null where it does not count them.</summary>
    public static (long Free, long All)? Inodes(string path)
    {
        if (!OperatingSystem.IsLinux() || !Environment.Is64BitProcess)
            return null;
        ulong* stat = stackalloc ulong[StatWords];
        return FileSystemStatus(path, stat) == 0 && stat[Files] != 0 ? ((long)stat[FreeFiles], (long)stat[Files]) : null;
    }

    [LibraryImport("libc", EntryPoint = "adjtimex", SetLastError = true)]
    private static partial int AdjustClock(long* clock);

    [LibraryImport("libc", EntryPoint = "statvfs", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    private static partial int FileSystemStatus(string path, ulong* status);
}
