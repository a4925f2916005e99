using System.Globalization;

namespace LightQ.Bench.Processes;

/// <summary>
/// How many files and sockets a process may have open. The runtime raises a process's limit to the highest allowed when
/// it starts.
/// </summary>
internal static class DescriptorLimit
{
    private const string Limits = "/proc/self/limits";
    private const string OpenFiles = "Max open files";

    /// <summary>Where the system does not say.</summary>
    private const int Unknown = 1024;

    /// <summary>The highest this process and its children may have.</summary>
    public static int Read()
    {
        string? line = File.Exists(Limits)
            ? File.ReadLines(Limits).FirstOrDefault(l => l.StartsWith(OpenFiles, StringComparison.Ordinal))
            : null;
        if (line is null)
            return Unknown;
        string hard = line[OpenFiles.Length..].Split(' ', StringSplitOptions.RemoveEmptyEntries)[1];
        return int.TryParse(hard, NumberStyles.None, CultureInfo.InvariantCulture, out int limit)
            ? limit
            : int.MaxValue;
    }
}
