using System.Text.Json;
using System.Text.Json.Serialization.Metadata;
using LightQ.Bench;

namespace LightQ.Cli.Bench.Report;

/// <summary>Writes reports for programs: whatever the scenario, the fields of a result come in one order.</summary>
internal static class ReportWriter
{
    /// <summary>
    /// A serializer alone would write what a scenario's record has itself in front of what it inherits.
    /// </summary>
    private static readonly string[] Order =
    [
        "size",
        "kind",
        "ack",
        "api",
        "messages",
        "messages_per_second",
        "yardstick",
        "yardstick_messages_per_second",
        "published_messages_per_second",
        "ratio",
        "ratio_p99",
        "pairs",
        "lost",
        "duplicated",
        "reordered",
        "damaged",
        "yardstick_faults",
        "rate",
        "latency_us",
        "yardstick_latency_us",
        "latency_runs_us",
        "yardstick_latency_runs_us",
        "processes",
        "broker_cpu_seconds",
        "broker_peak_rss_bytes",
        "topics",
        "backlog_bytes",
        "ready_ms",
        "yardstick_ready_ms",
        "ready_runs_ms",
        "yardstick_ready_runs_ms",
        "broker_ready_rss_bytes",
        "fanout",
        "scale",
        "runs",
        "yardstick_runs",
    ];

    private static readonly JsonSerializerOptions Ordered = new(ReportJson.Default.Options)
    {
        TypeInfoResolver = ReportJson.Default.WithAddedModifier(Sort),
    };

    /// <summary>The report in one line.</summary>
    public static string Write<TResult>(BenchReport<TResult> report)
        where TResult : BenchResult =>
        JsonSerializer.Serialize(
            report,
            (JsonTypeInfo<BenchReport<TResult>>)Ordered.GetTypeInfo(typeof(BenchReport<TResult>))
        );

    private static void Sort(JsonTypeInfo type)
    {
        if (!type.Type.IsAssignableTo(typeof(BenchResult)))
            return;
        foreach (JsonPropertyInfo property in type.Properties)
            property.Order = Array.IndexOf(Order, property.Name);
    }
}
