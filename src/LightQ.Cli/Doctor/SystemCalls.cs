// Unsafe: a system call takes an address.
using System.Runtime.InteropServices;

namespace LightQ.Cli.Doctor;

/// <summary>What only the system itself can be asked.</summary>
internal static unsafe partial class SystemCalls
{
    private const int ClockError = 5;
    private const int ClockWords = 64; // struct timex has 208 bytes.

    /// <summary>Whether a service such as NTP keeps the kernel's clock; null where the kernel does not say.</summary>
    public static bool? IsClockSynchronized()
    {
        if (!OperatingSystem.IsLinux())
            return null;
        long* clock = stackalloc long[ClockWords];
        new Span<long>(clock, ClockWords).Clear(); // No mode: only asks.
        int state = AdjustClock(clock);
        return state < 0 ? null : state != ClockError;
    }

    [LibraryImport("libc", EntryPoint = "adjtimex", SetLastError = true)]
    private static partial int AdjustClock(long* clock);
}
