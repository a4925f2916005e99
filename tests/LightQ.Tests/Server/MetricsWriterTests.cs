using LightQ.Server.Telemetry;
using LightQ.Server.Web;
using Xunit;

namespace LightQ.Tests.Server;

public sealed class MetricsWriterTests
{
    [Fact]
    public void A_family_has_help_type_and_samples()
    {
        Assert.Equal(
            """
            # HELP lightq_topic_messages_total Messages.
            # TYPE lightq_topic_messages_total counter
            lightq_topic_messages_total{topic="a"} 12
            lightq_topic_messages_total{topic="b"} 0.5
            # HELP lightq_connections Open connections.
            # TYPE lightq_connections gauge
            lightq_connections 3

            """,
            Write(
                MetricsFormat.Prometheus,
                (
                    Figure("lightq.topic.messages", FigureKind.Counter, "{message}", "Messages.", "topic"),
                    [new(12, "a"), new(0.5, "b")]
                ),
                (Figure("lightq.connections", FigureKind.UpDownCounter, "{connection}", "Open connections."), [new(3)])
            )
        );
    }

    [Fact]
    public void OpenMetrics_names_the_family_without_total_and_its_unit_and_ends()
    {
        Assert.Equal(
            """
            # HELP lightq_sent_bytes Bytes.
            # TYPE lightq_sent_bytes counter
            # UNIT lightq_sent_bytes bytes
            lightq_sent_bytes_total{topic="a",group="g"} 12
            # HELP lightq_connections Open \"connections\".
            # TYPE lightq_connections gauge
            lightq_connections 3
            # EOF

            """,
            Write(
                MetricsFormat.OpenMetrics,
                (Figure("lightq.sent", FigureKind.Counter, "By", "Bytes.", "topic", "group"), [new(12, "a", "g")]),
                (Figure("lightq.connections", FigureKind.Gauge, "", "Open \"connections\"."), [new(3)])
            )
        );
    }

    [Fact]
    public void A_family_without_samples_is_not_there() =>
        Assert.Equal(
            "# EOF\n",
            Write(MetricsFormat.OpenMetrics, (Figure("lightq.sent", FigureKind.Counter, "By", "Bytes."), []))
        );

    [Fact]
    public void Help_and_labels_are_escaped() =>
        Assert.Equal(
            "# HELP g a \"b\"\\\\c\\nd\n# TYPE g gauge\ng{l=\"a \\\"b\\\"\\\\c\\nd\"} 1\n",
            Write(
                MetricsFormat.Prometheus,
                (Figure("g", FigureKind.Gauge, "", "a \"b\"\\c\nd", "l"), [new(1, "a \"b\"\\c\nd")])
            )
        );

    [Theory]
    [InlineData(double.NaN, "NaN")]
    [InlineData(double.PositiveInfinity, "+Inf")]
    [InlineData(double.NegativeInfinity, "-Inf")]
    [InlineData(9007199254740991, "9007199254740991")]
    [InlineData(-1.25, "-1.25")]
    public void Values_are_as_the_format_writes_them(double value, string text) =>
        Assert.EndsWith(
            $"\ng {text}\n",
            Write(MetricsFormat.Prometheus, (Figure("g", FigureKind.Gauge, "", ""), [new(value)])),
            StringComparison.Ordinal
        );

    private static Figure Figure(string name, FigureKind kind, string unit, string help, params string[] tags) =>
        new(name, kind, unit, help, _ => [], tags);

    private static string Write(MetricsFormat format, params (Figure Figure, FigureSample[] Samples)[] families)
    {
        var writer = new MetricsWriter(format);
        foreach ((Figure figure, FigureSample[] samples) in families)
            writer.Write(figure, samples);
        return writer.End();
    }
}
