using System.Text.Json;
using LightQ.Bench;
using LightQ.Cli.Bench.Report;
using Xunit;
using static LightQ.Tests.Cli.Bench.SampleResults;

namespace LightQ.Tests.Cli.Bench;

/// <summary>What programs read: every scenario's report has the fields of the fixture, in its order.</summary>
public sealed class ReportWriterTests
{
    private static readonly Dictionary<string, string[]> Fields = File.ReadAllText(
            Path.Combine(AppContext.BaseDirectory, "Cli", "Bench", "report-fields.txt")
        )
        .Split("# ", StringSplitOptions.RemoveEmptyEntries)
        .Select(part => part.TrimEnd().Split('\n'))
        .ToDictionary(lines => lines[0], lines => lines[1..]);

    private static readonly Dictionary<string, string> Reports = new[]
    {
        Write(new ThroughputView(catchUp: false), Moved(100, "relay", 2, 1)),
        Write(new ThroughputView(catchUp: true), Moved(100, "relay", 2, 1)),
        Write(new LatencyView(), Paced("relay")),
        Write(new ReferenceView(), Published("durable", "myq", 1)),
        Write(new FanoutView(), FannedOut(20)),
        Write(new StartupView(), Started()),
        Write(new InProcessView(), HandedOver("ring", 1)),
        Write(new ScaleView(), Grown("topics", 1)),
        Write(new SettleView(), Settled("range", 2)),
    }.ToDictionary();

    public static TheoryData<string> Scenarios => [.. Fields.Keys];

    [Theory]
    [MemberData(nameof(Scenarios))]
    public void A_report_has_the_fields_it_always_had(string scenario)
    {
        using var report = JsonDocument.Parse(Reports[scenario]);
        Assert.Equal(Fields[scenario], FieldsOf(report.RootElement, "").Distinct());
        Assert.Equal(scenario, report.RootElement.GetProperty("scenario").GetString());
    }

    [Fact]
    public void Every_scenario_has_its_fields_written_down() =>
        Assert.Equal(Reports.Keys.Order(StringComparer.Ordinal), Fields.Keys.Order(StringComparer.Ordinal));

    [Fact]
    public void What_is_not_known_of_somebody_elses_broker_is_absent()
    {
        (_, string report) = Write(
            new ThroughputView(catchUp: false),
            Moved(100, "relay", 2, 1) with
            {
                BrokerCpuSeconds = null,
                BrokerPeakRssBytes = null,
            }
        );

        using var document = JsonDocument.Parse(report);
        Assert.Equal(
            Fields["throughput"].Where(f => !f.StartsWith("results.broker_", StringComparison.Ordinal)),
            FieldsOf(document.RootElement, "").Distinct()
        );
    }

    private static (string Scenario, string Report) Write<TResult>(ScenarioView<TResult> view, TResult result)
        where TResult : BenchResult => (view.Name, ReportWriter.Write(Report(view, result)));

    private static IEnumerable<string> FieldsOf(JsonElement element, string path) =>
        element.ValueKind switch
        {
            JsonValueKind.Object => element
                .EnumerateObject()
                .SelectMany(p => FieldsOf(p.Value, $"{path}.{p.Name}").Prepend($"{path}.{p.Name}"[1..])),
            JsonValueKind.Array => element.EnumerateArray().SelectMany(item => FieldsOf(item, path)),
            _ => [],
        };
}
