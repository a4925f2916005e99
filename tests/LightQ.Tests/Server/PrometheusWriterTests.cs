using LightQ.Server.Web;
using Xunit;

namespace LightQ.Tests.Server;

public sealed class PrometheusWriterTests
{
    [Fact]
    public void A_family_has_help_type_and_samples()
    {
        var writer = new PrometheusWriter();
        writer.Counter("lightq_messages_total", "Messages.").Sample(12, "topic", "a").Sample(0.5, "topic", "b");
        writer.Gauge("lightq_connections", "Open connections.").Sample(3);
        Assert.Equal(
            """
            # HELP lightq_messages_total Messages.
            # TYPE lightq_messages_total counter
            lightq_messages_total{topic="a"} 12
            lightq_messages_total{topic="b"} 0.5
            # HELP lightq_connections Open connections.
            # TYPE lightq_connections gauge
            lightq_connections 3

            """,
            writer.ToString());
    }

    [Fact]
    public void Help_and_labels_are_escaped()
    {
        var writer = new PrometheusWriter();
        writer.Gauge("g", "a \"b\"\\c\nd").Sample(1, "l", "a \"b\"\\c\nd");
        Assert.Equal("# HELP g a \"b\"\\\\c\\nd\n# TYPE g gauge\ng{l=\"a \\\"b\\\"\\\\c\\nd\"} 1\n", writer.ToString());
    }

    [Theory]
    [InlineData(double.NaN, "NaN")]
    [InlineData(double.PositiveInfinity, "+Inf")]
    [InlineData(double.NegativeInfinity, "-Inf")]
    [InlineData(9007199254740991, "9007199254740991")]
    [InlineData(-1.25, "-1.25")]
    public void Values_are_as_the_format_writes_them(double value, string text)
    {
        var writer = new PrometheusWriter();
        writer.Gauge("g", "").Sample(value);
        Assert.EndsWith($"\ng {text}\n", writer.ToString(), StringComparison.Ordinal);
    }
}
