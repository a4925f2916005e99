using System.Globalization;

namespace LightQ.Bench.Processes;

/// <summary>What a process has used, as <c>/proc</c> tells it.</summary>
/// <param name="CpuSeconds">User and system time of all its threads.</param>
/// <param name="PeakBytes">Its largest resident memory.</param>
/// <param name="ResidentBytes">Its resident memory now.</param>
internal readonly record struct ProcessUsage(double CpuSeconds, long PeakBytes, long ResidentBytes)
{
    // The kernel reports in these units to every program, whatever its own clock rate is.
    private const double TicksPerSecond = 100;
    private const int FieldsBehindName = 2;
    private const int UserTime = 14;

    /// <summary>Reads it; zeros where there is no <c>/proc</c>.</summary>
    public static ProcessUsage Of(int processId)
    {
        string directory = $"/proc/{processId}";
        if (!Directory.Exists(directory))
            return default;
        string stat = File.ReadAllText($"{directory}/stat");
        // The second field is the program's name in brackets, which may contain spaces.
        string[] fields = stat[(stat.LastIndexOf(')') + 2)..].Split(' ');
        long ticks = Number(fields[UserTime - FieldsBehindName - 1]) + Number(fields[UserTime - FieldsBehindName]);
        string[] status = File.ReadAllLines($"{directory}/status");
        return new ProcessUsage(ticks / TicksPerSecond, Bytes(status, "VmHWM:"), Bytes(status, "VmRSS:"));
    }

    /// <summary>
    /// A line such as <c>VmRSS: 1024 kB</c>; 0 when there is none, as for a process that has just ended.
    /// </summary>
    private static long Bytes(string[] status, string name)
    {
        string? line = Array.Find(status, l => l.StartsWith(name, StringComparison.Ordinal));
        return line is null ? 0 : 1024 * Number(line[name.Length..^"kB".Length].Trim());
    }

    private static long Number(string text) => long.Parse(text, CultureInfo.InvariantCulture);
}
