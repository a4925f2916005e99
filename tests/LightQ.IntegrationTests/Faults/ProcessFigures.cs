using System.Globalization;

namespace LightQ.IntegrationTests.Faults;

/// <summary>What Linux says of a process.</summary>
internal static class ProcessFigures
{
    private const int TicksPerSecond = 100,
        UserTicks = 11,
        SystemTicks = 12;

    /// <summary>Open descriptors.</summary>
    public static int Descriptors(int process) => Directory.GetFileSystemEntries($"/proc/{Text(process)}/fd").Length;

    /// <summary>Resident memory.</summary>
    public static int ResidentMiB(int process) => MiB(process, "VmRSS:");

    /// <summary>Memory that a limit on data (RLIMIT_DATA) counts.</summary>
    public static int DataMiB(int process) => MiB(process, "VmData:");

    /// <summary>User and system time so far.</summary>
    public static TimeSpan Cpu(int process)
    {
        string stat = File.ReadAllText($"/proc/{Text(process)}/stat");
        string[] behindName = stat[(stat.LastIndexOf(')') + 2)..].Split(' ');
        long ticks =
            long.Parse(behindName[UserTicks], CultureInfo.InvariantCulture)
            + long.Parse(behindName[SystemTicks], CultureInfo.InvariantCulture);
        return TimeSpan.FromSeconds((double)ticks / TicksPerSecond);
    }

    private static int MiB(int process, string name)
    {
        string line = File.ReadLines($"/proc/{Text(process)}/status")
            .First(l => l.StartsWith(name, StringComparison.Ordinal));
        return int.Parse(line.Split(' ', StringSplitOptions.RemoveEmptyEntries)[^2], CultureInfo.InvariantCulture)
            / 1024;
    }

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);
}
