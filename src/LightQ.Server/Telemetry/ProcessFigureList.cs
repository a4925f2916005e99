using System.Globalization;

namespace LightQ.Server.Telemetry;

/// <summary>The figures of the process around the broker.</summary>
internal static class ProcessFigureList
{
    /// <summary>All of them.</summary>
    public static IReadOnlyList<Figure> All { get; } =
    [
        new(
            "process.resident_memory",
            FigureKind.Gauge,
            "By",
            "Resident memory of the process.",
            _ => Figures.One(Environment.WorkingSet)
        ),
        new(
            "process.cpu",
            FigureKind.Counter,
            "s",
            "User and system time of the process.",
            _ => Figures.One(Environment.CpuUsage.TotalTime.TotalSeconds)
        ),
        new(
            "dotnet.gc.heap",
            FigureKind.Gauge,
            "By",
            "Bytes of the managed heap after the last collection.",
            _ => Figures.One(GC.GetGCMemoryInfo().HeapSizeBytes)
        ),
        new(
            "dotnet.gc.allocated",
            FigureKind.Counter,
            "By",
            "Bytes allocated on the managed heap.",
            _ => Figures.One(GC.GetTotalAllocatedBytes())
        ),
        new(
            "dotnet.gc.pause",
            FigureKind.Counter,
            "s",
            "Time that collections stopped the process.",
            _ => Figures.One(GC.GetTotalPauseDuration().TotalSeconds)
        ),
        new(
            "dotnet.gc.collections",
            FigureKind.Counter,
            "{collection}",
            "Collections, by generation.",
            _ =>
                Enumerable
                    .Range(0, GC.MaxGeneration + 1)
                    .Select(g => new FigureSample(GC.CollectionCount(g), g.ToString(CultureInfo.InvariantCulture))),
            "generation"
        ),
    ];
}
