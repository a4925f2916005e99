using System.Runtime.InteropServices;

namespace LightQ.Bench.Processes;

/// <summary>Stops a process where it is and lets it go on, or kills it, by its id. Not on Windows.</summary>
internal static partial class ProcessSignal
{
    // The numbers differ between systems: signal(7), and signal(3) of macOS.
    private static readonly int Stop = OperatingSystem.IsLinux() ? 19 : 17,
        Continue = OperatingSystem.IsLinux() ? 18 : 19;

    private const int Kill = 9;

    /// <summary>Whether this system has signals.</summary>
    public static bool IsSupported => !OperatingSystem.IsWindows();

    /// <summary>The process stands still, as one that swaps or whose machine is paused.</summary>
    public static void StopProcess(int id) => Send(id, Stop);

    /// <summary>It goes on.</summary>
    public static void ContinueProcess(int id) => Send(id, Continue);

    /// <summary>It ends without a word.</summary>
    public static void KillProcess(int id) => Send(id, Kill);

    private static void Send(int id, int signal)
    {
        if (SendSignal(id, signal) != 0)
        {
            throw new BenchException(
                BenchFailure.Failed,
                $"Signal {signal} to process {id}: {Marshal.GetLastPInvokeErrorMessage()}."
            );
        }
    }

    [LibraryImport("libc", EntryPoint = "kill", SetLastError = true)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static partial int SendSignal(int id, int signal);
}
