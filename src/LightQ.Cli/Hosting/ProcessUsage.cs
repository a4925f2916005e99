using System.Globalization;

namespace LightQ.Cli.Hosting;

/// <summary>What a process has used, as <c>/proc</c> tells it.</summary>
/// <param name="CpuSeconds">User and system time of all its threads.</param>
/// <param name="PeakBytes">Its largest resident memory.</param>
internal readonly record struct ProcessUsage(double CpuSeconds, long PeakBytes)
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
        string peak = File.ReadLines($"{directory}/status").FirstOrDefault(l => l.StartsWith("VmHWM:", StringComparison.Ordinal)) ?? "VmHWM: 0 kB";
        return new ProcessUsage(ticks / TicksPerSecond, 1024 * Number(peak.Split(' ', StringSplitOptions.RemoveEmptyEntries)[^2].Trim()));
    }

    private static long Number(string text) => long.Parse(text.AsSpan().TrimStart("VmHWM:\t "), CultureInfo.InvariantCulture);
}
