using System.Reflection;
using LightQ.Client;
using LightQ.Client.Telemetry;
using LightQ.IntegrationTests.Docs;
using LightQ.Server.Telemetry;
using Xunit;

namespace LightQ.IntegrationTests.Telemetry;

/// <summary>docs/use/telemetry.md lists what there is.</summary>
public sealed class TelemetryPageTests
{
    private static readonly string Page = Document.Read("docs/use/telemetry.md").Text;

    [Fact]
    public void The_page_names_every_attribute()
    {
        string[] attributes =
        [
            .. typeof(Attributes)
                .GetFields(BindingFlags.Public | BindingFlags.Static)
                .Select(field => (string)field.GetRawConstantValue()!),
        ];
        Assert.Contains("messaging.system", attributes);
        Assert.All(attributes, attribute => Assert.Contains($"`{attribute}`", Page, StringComparison.Ordinal));
    }

    [Fact]
    public void The_page_names_every_instrument_with_its_unit()
    {
        System.Diagnostics.Metrics.Instrument[] instruments =
        [
            Instruments.SentMessages,
            Instruments.ConsumedMessages,
            Instruments.OperationDuration,
            Instruments.ProcessDuration,
        ];
        Assert.All(
            instruments,
            instrument =>
            {
                string kind = instrument.GetType().Name.StartsWith("Counter", StringComparison.Ordinal)
                    ? "counter"
                    : "histogram";
                Assert.Contains(
                    $"| `{instrument.Name}` | {kind} | `{instrument.Unit}` |",
                    Page,
                    StringComparison.Ordinal
                );
                Assert.Equal(LightQTelemetry.MeterName, instrument.Meter.Name);
            }
        );
    }

    [Fact]
    public void The_page_lists_every_figure_of_the_broker()
    {
        string[] rows =
        [
            .. Page.Split('\n')
                .Where(line =>
                    line.StartsWith("| `lightq.", StringComparison.Ordinal) && line.Count(c => c == '|') == 5
                ),
        ];
        Assert.Equal(Figures.OfBroker.Select(RowOf), rows);
    }

    private static string RowOf(Figure figure)
    {
        string kind = figure.Kind switch
        {
            FigureKind.Counter => "counter",
            FigureKind.UpDownCounter => "up-down counter",
            _ => "gauge",
        };
        string unit = figure.Unit.Length == 0 ? "" : $"`{figure.Unit}`";
        string tags = string.Join(", ", figure.Tags.Select(tag => $"`{tag}`"));
        return $"| `{figure.Name}` | {kind} | {unit} | {tags} |";
    }
}
