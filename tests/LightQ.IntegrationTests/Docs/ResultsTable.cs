using System.Globalization;
using System.Text;
using System.Text.Json;

namespace LightQ.IntegrationTests.Docs;

/// <summary>Reports of the benches, as <c>benchmarks/results.sh</c> keeps them, as a Markdown table.</summary>
internal static class ResultsTable
{
    private const double NanosecondsPerMicrosecond = 1000,
        BytesPerMiB = 1024 * 1024,
        BytesPerKiB = 1024;

    private static readonly string[] Percentiles = ["p50", "p99", "p99.9", "max"],
        AllPercentiles = ["p50", "p90", "p99", "p99.9", "p99.99", "max"];

    private const string Late = "later_than_20_us_percent";

    private static readonly string[] Counts = ["few", "many"];

    /// <summary>The table of some reports of one scenario, and where they are from.</summary>
    public static string Of(IReadOnlyList<string> reports)
    {
        JsonElement[] runs = [.. reports.Select(r => JsonDocument.Parse(r).RootElement)];
        string[] columns = ColumnsOf(Scenario(runs[0]));
        var table = new StringBuilder();
        table
            .Append("| ")
            .AppendJoin(" | ", columns)
            .Append(" |\n|")
            .Append(string.Concat(Enumerable.Repeat("---|", columns.Length)))
            .Append('\n');
        foreach (JsonElement run in runs)
        {
            string command = $"`{run.GetProperty("command").GetString()}`";
            foreach (JsonElement result in run.GetProperty("report").GetProperty("results").EnumerateArray())
            {
                foreach (IEnumerable<string> row in RowsOf(Scenario(run), result))
                    table.Append("| ").AppendJoin(" | ", row.Prepend(command)).Append(" |\n");
                command = "";
            }
        }
        IEnumerable<string> versions = runs.Select(r =>
                $"`{r.GetProperty("version").GetString()}`, {r.GetProperty("date").GetString()}"
            )
            .Distinct();
        return table.Append(CultureInfo.InvariantCulture, $"\nVersion {string.Join("; ", versions)}.\n").ToString();
    }

    private static string Scenario(JsonElement run) => run.GetProperty("report").GetProperty("scenario").GetString()!;

    private static string[] ColumnsOf(string scenario) =>
        scenario switch
        {
            "throughput" or "catch-up" or "reference" =>
            [
                "command",
                "size",
                "topic",
                "messages/s",
                "yardstick",
                "its messages/s",
                "ratio",
            ],
            "latency" =>
            [
                "command",
                "size, rate",
                "topic",
                "through",
                "p50 us",
                "p99 us",
                "p99.9 us",
                "max us",
                "p50 of it",
                "p99 of it",
            ],
            "startup" => ["command", "ready ms", "empty directory ms", "MiB when ready", "peak MiB"],
            "inprocess" =>
            [
                "command",
                "through",
                "size",
                "p50 ns",
                "p90",
                "p99",
                "p99.9",
                "p99.99",
                "max",
                "later than 20 us %",
                "line's %",
                "line ns",
                "p50 of line",
                "p99 of line",
            ],
            "scale" =>
            [
                "command",
                "what grows",
                "from",
                "to",
                "measured",
                "with few",
                "with many",
                "ratio",
                "KiB each",
                "idle CPU %",
                "at rest MiB",
            ],
            "settle" => ["command", "size", "settled", "messages/s", "yardstick", "its messages/s", "ratio"],
            "fanout" => ["command", "size", "messages", "lost", "p50 us", "p99 us", "max us", "broker peak MiB"],
            _ => throw new InvalidOperationException($"There is no table for {scenario}."),
        };

    private static IEnumerable<IEnumerable<string>> RowsOf(string scenario, JsonElement r) =>
        scenario switch
        {
            "throughput" or "catch-up" or "reference" =>
            [
                [
                    Size(r),
                    Word(r, "kind"),
                    Number(r, "messages_per_second"),
                    Word(r, "yardstick"),
                    Number(r, "yardstick_messages_per_second"),
                    Ratio(r, "ratio"),
                ],
            ],
            "latency" =>
            [
                [
                    $"{Size(r)}, {Number(r, "rate")}/s",
                    Word(r, "kind"),
                    "LightQ",
                    .. Latency(r, "latency_us"),
                    Ratio(r, "ratio"),
                    Ratio(r, "ratio_p99"),
                ],
                ["", "", Word(r, "yardstick"), .. Latency(r, "yardstick_latency_us"), "", ""],
            ],
            "startup" =>
            [
                [
                    Number(r, "ready_ms"),
                    Number(r, "yardstick_ready_ms"),
                    MiB(r, "broker_ready_rss_bytes"),
                    MiB(r, "broker_peak_rss_bytes"),
                ],
            ],
            "scale" =>
            [
                [.. Scale(r.GetProperty("scale"), Ratio(r, "ratio"))],
            ],
            "settle" =>
            [
                [
                    Size(r),
                    Word(r, "api"),
                    Number(r, "messages_per_second"),
                    Word(r, "yardstick"),
                    Number(r, "yardstick_messages_per_second"),
                    Ratio(r, "ratio"),
                ],
            ],
            "inprocess" =>
            [
                [Word(r, "kind"), Size(r), .. InProcess(r), Ratio(r, "ratio"), Ratio(r, "ratio_p99")],
            ],
            _ =>
            [
                [
                    Size(r),
                    Number(r, "messages"),
                    Number(r, "lost"),
                    .. Latency(r, "latency_us").Where((_, i) => i != 2),
                    MiB(r, "broker_peak_rss_bytes"),
                ],
            ],
        };

    private static string[] Scale(JsonElement scale, string ratio) =>
        [
            Word(scale, "dimension"),
            .. Counts.Select(n => Word(scale, "dimension") == "backlog" ? $"{MiB(scale, n)} MiB" : Number(scale, n)),
            Word(scale, "unit"),
            Number(scale, "few_rate"),
            Number(scale, "many_rate"),
            ratio,
            scale.TryGetProperty("bytes_each", out JsonElement each)
                ? (each.GetDouble() / BytesPerKiB).ToString("F1", CultureInfo.InvariantCulture)
                : "",
            scale.GetProperty("idle_cpu_percent").GetDouble().ToString("F1", CultureInfo.InvariantCulture),
            MiB(scale, "rest_bytes"),
        ];

    private static IEnumerable<string> Latency(JsonElement result, string whose)
    {
        JsonElement figures = result.GetProperty(whose);
        return Percentiles.Select(p =>
            figures.GetProperty(p).GetDouble().ToString(p == "p50" ? "N1" : "N0", CultureInfo.InvariantCulture)
        );
    }

    private static string[] InProcess(JsonElement result)
    {
        JsonElement figures = result.GetProperty("latency_us"),
            line = result.GetProperty("yardstick_latency_us");
        return
        [
            .. AllPercentiles.Select(p => Value(figures.GetProperty(p))),
            Ratio(figures, Late),
            Ratio(line, Late),
            Value(line.GetProperty("p50")),
        ];

        static string Value(JsonElement value) =>
            (value.GetDouble() * NanosecondsPerMicrosecond).ToString("N0", CultureInfo.InvariantCulture);
    }

    private static string Size(JsonElement result) => $"{result.GetProperty("size").GetInt32()} B";

    private static string Word(JsonElement result, string name) => result.GetProperty(name).GetString()!;

    private static string Number(JsonElement result, string name) =>
        result.TryGetProperty(name, out JsonElement value)
            ? value.GetDouble().ToString("N0", CultureInfo.InvariantCulture)
            : "";

    private static string Ratio(JsonElement result, string name) =>
        result.TryGetProperty(name, out JsonElement value)
            ? value.GetDouble().ToString("F2", CultureInfo.InvariantCulture)
            : "";

    private static string MiB(JsonElement result, string name) =>
        result.TryGetProperty(name, out JsonElement value)
            ? (value.GetDouble() / BytesPerMiB).ToString("F0", CultureInfo.InvariantCulture)
            : "";
}
