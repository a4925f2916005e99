using System.Globalization;
using System.Net.Sockets;

namespace LightQ.Server.Limits;

/// <summary>
/// Descriptors that connections do not get. Files need some, and so do threads: the runtime ends a process that has
/// none left when it makes a thread.
/// </summary>
/// <remarks>
/// The system gives out the lowest free number, so the number of a new socket says how many are in use below it, and no
/// counter is needed.
/// </remarks>
internal static class DescriptorReserve
{
    private const string Limits = "/proc/self/limits",
        OpenFiles = "Max open files";
    private const int Least = 16,
        Most = 128,
        Share = 8;

    /// <summary>How many this process may have; <see cref="int.MaxValue"/> where the system does not say.</summary>
    public static int Limit { get; } = ReadLimit();

    /// <summary>How many of them are kept.</summary>
    public static int Size { get; } = Math.Clamp(Limit / Share, Least, Most);

    /// <summary>How many all connections together may have.</summary>
    public static int ForConnections => Limit - Size;

    /// <summary>Whether a socket that was just accepted has one of them.</summary>
    public static bool Has(Socket socket) =>
        Limit != int.MaxValue && socket.SafeHandle.DangerousGetHandle() >= Limit - Size;

    private static int ReadLimit()
    {
        if (!OperatingSystem.IsLinux() || !File.Exists(Limits))
            return int.MaxValue;
        string? line = File.ReadLines(Limits).FirstOrDefault(l => l.StartsWith(OpenFiles, StringComparison.Ordinal));
        // The first number: what is in force. The runtime has raised it to the second, the highest allowed, when it
        // started.
        string? soft = line?[OpenFiles.Length..].Split(' ', StringSplitOptions.RemoveEmptyEntries).FirstOrDefault();
        return int.TryParse(soft, NumberStyles.None, CultureInfo.InvariantCulture, out int limit)
            ? limit
            : int.MaxValue;
    }
}
