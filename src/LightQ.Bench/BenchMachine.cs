using System.Runtime;
using System.Runtime.InteropServices;

namespace LightQ.Bench;

/// <summary>Where a bench ran.</summary>
internal sealed record BenchMachine
{
    public required string Cpu { get; init; }

    public int Cores { get; init; }

    public long MemoryBytes { get; init; }

    public required string Runtime { get; init; }

    public required string Gc { get; init; }

    /// <summary>This machine.</summary>
    public static BenchMachine Current() =>
        new()
        {
            Cpu = CpuName(),
            Cores = Environment.ProcessorCount,
            MemoryBytes = GC.GetGCMemoryInfo().TotalAvailableMemoryBytes,
            Runtime = RuntimeInformation.FrameworkDescription,
            Gc =
                $"{(GCSettings.IsServerGC ? "server" : "workstation")}, "
                + $"{(GCSettings.LatencyMode == GCLatencyMode.Batch ? "non-concurrent" : "concurrent")}",
        };

    private static string CpuName()
    {
        const string Path = "/proc/cpuinfo";
        string? line = File.Exists(Path)
            ? File.ReadLines(Path).FirstOrDefault(l => l.StartsWith("model name", StringComparison.Ordinal))
            : null;
        return line is null
            ? RuntimeInformation.ProcessArchitecture.ToString()
            : line[(line.IndexOf(':', StringComparison.Ordinal) + 1)..].Trim();
    }
}
