using System.Globalization;
using System.Text.Json;

namespace LightQ.IntegrationTests.Docs;

/// <summary>
/// The pictures of docs/measured/speed.md, made from the reports that the benches left in benchmarks/results. A picture
/// shows one report alone: what was not measured in the same run is not compared.
/// </summary>
internal static class SpeedCharts
{
    private static readonly string[] Percentiles = ["p50", "p99"];

    /// <summary>Each picture with what it is made from.</summary>
    public static IReadOnlyDictionary<string, Func<string>> All { get; } =
        new Dictionary<string, Func<string>>
        {
            ["docs/measured/throughput.svg"] = () => Rates("nats-throughput.1", "Messages a second, transient topic"),
            ["docs/measured/durable.svg"] = () =>
                Rates("durable.1", "Messages a second, durable topic: flushed before the ack"),
            ["docs/measured/latency.svg"] = () =>
                Latencies("nats-latency.1", "Latency at 10,000 messages a second, 512 B, in microseconds"),
        };

    private static string Rates(string report, string title)
    {
        JsonElement run = Read(report);
        BarGroup[] groups =
        [
            .. Results(run)
                .GroupBy(r => r.GetProperty("size").GetInt32())
                .Select(size => new BarGroup(
                    $"{size.Key} B",
                    [
                        BarOf("LightQ", size.First().GetProperty("messages_per_second"), true),
                        .. size.Select(r => BarOf(NameOf(r), r.GetProperty("yardstick_messages_per_second"), false)),
                    ]
                )),
        ];
        return Chart(run, title, groups);
    }

    private static string Latencies(string report, string title)
    {
        JsonElement run = Read(report);
        BarGroup[] groups =
        [
            .. Percentiles.Select(percentile => new BarGroup(
                percentile,
                [
                    BarOf("LightQ", Results(run).First().GetProperty("latency_us").GetProperty(percentile), true),
                    .. Results(run)
                        .Select(r =>
                            BarOf(NameOf(r), r.GetProperty("yardstick_latency_us").GetProperty(percentile), false)
                        ),
                ]
            )),
        ];
        return Chart(run, title, groups);
    }

    private static string Chart(JsonElement run, string title, BarGroup[] groups)
    {
        string figures = string.Join(
            "; ",
            groups.Select(g => $"{g.Name}: {string.Join(", ", g.Bars.Select(b => $"{b.Name} {b.Text}"))}")
        );
        string source =
            $"{Word(run, "command")}, version {Word(run, "version")}, {Word(run, "date")}; "
            + "medians, one machine, two cores";
        return BarChart.Svg(title, figures, source, groups);
    }

    private static Bar BarOf(string name, JsonElement value, bool isOurs) =>
        new(name, value.GetDouble(), value.GetDouble().ToString("N0", CultureInfo.InvariantCulture), isOurs);

    private static string NameOf(JsonElement result) =>
        Word(result, "yardstick") switch
        {
            "relay" => "byte relay",
            "nats" => "NATS core",
            string other => other,
        };

    private static JsonElement Read(string report) =>
        JsonDocument.Parse(SourceTree.Read($"benchmarks/results/{report}.json")).RootElement;

    private static JsonElement.ArrayEnumerator Results(JsonElement run) =>
        run.GetProperty("report").GetProperty("results").EnumerateArray();

    private static string Word(JsonElement element, string name) => element.GetProperty(name).GetString()!;
}
