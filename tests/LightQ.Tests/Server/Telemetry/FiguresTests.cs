using System.Text.RegularExpressions;
using LightQ.Server.Telemetry;
using Xunit;

namespace LightQ.Tests.Server.Telemetry;

public sealed partial class FiguresTests
{
    public static TheoryData<string> Names => [.. Figures.All.Select(f => f.Name)];

    [Theory]
    [MemberData(nameof(Names))]
    public void A_figure_is_named_by_the_rules_of_both_worlds(string name)
    {
        Figure figure = Assert.Single(Figures.All, f => f.Name == name);
        Assert.Matches(InstrumentName(), figure.Name);
        Assert.Matches(Unit(), figure.Unit);
        Assert.EndsWith(".", figure.Help, StringComparison.Ordinal);
        Assert.Single(Figures.All, f => f.Family == figure.Family);
        // Prometheus' suffixes and units come from kind and unit, and are nowhere written by hand.
        Assert.DoesNotMatch("(_total|_bytes|_seconds)$", figure.Name.Replace('.', '_'));
        Assert.InRange(figure.Tags.Length, 0, 2);
        Assert.True(figure.Kind == FigureKind.Gauge || figure.Unit.Length != 0, "what is counted has a unit");
        // A name is no namespace.
        Assert.DoesNotContain(Figures.All, f => f.Name.StartsWith(figure.Name + ".", StringComparison.Ordinal));
    }

    [Fact]
    public void The_meter_has_what_the_page_has_but_the_process() =>
        Assert.Equal(Figures.OfBroker, Figures.All.Where(f => f.Name.StartsWith("lightq.", StringComparison.Ordinal)));

    [GeneratedRegex(@"^[a-z]+(\.[a-z]+(_[a-z]+)*)+$")]
    private static partial Regex InstrumentName();

    [GeneratedRegex(@"^(By|s|\{[a-z]+\}|)$")]
    private static partial Regex Unit();
}
