using System.Globalization;

namespace LightQ.Bench.Processes;

/// <summary>How many threads wanted to run, on average.</summary>
internal static class SystemLoad
{
    private const string LoadAverages = "/proc/loadavg";

    /// <summary>Over the last minute; 0 where the system does not say.</summary>
    public static double LastMinute() =>
        File.Exists(LoadAverages)
            ? double.Parse(File.ReadAllText(LoadAverages).Split(' ')[0], CultureInfo.InvariantCulture)
            : 0;
}
