using System.Xml.Linq;
using Xunit;

namespace LightQ.IntegrationTests.Docs;

/// <summary>The pictures are what the benches reported. LIGHTQ_WRITE_DOCS=1 writes them.</summary>
public sealed class SpeedChartTests
{
    private static readonly XNamespace Svg = "http://www.w3.org/2000/svg";

    public static TheoryData<string> Pictures => [.. SpeedCharts.All.Keys];

    [Theory]
    [MemberData(nameof(Pictures))]
    public void A_picture_is_what_the_benches_reported(string path)
    {
        string drawn = SpeedCharts.All[path]();
        if (Environment.GetEnvironmentVariable("LIGHTQ_WRITE_DOCS") == "1")
            File.WriteAllText(SourceTree.PathOf(path), drawn);
        Assert.Equal(drawn, SourceTree.Read(path));
    }

    [Theory]
    [MemberData(nameof(Pictures))]
    public void A_picture_says_in_words_what_it_shows_and_loads_nothing(string path)
    {
        XElement picture = XElement.Parse(SourceTree.Read(path));
        Assert.NotEmpty(picture.Element(Svg + "title")!.Value);
        Assert.NotEmpty(picture.Element(Svg + "desc")!.Value);
        Assert.DoesNotContain(picture.DescendantsAndSelf().Attributes(), a => a.Name.LocalName is "href" or "src");
        Assert.Contains(Path.GetFileName(path), Document.Read("docs/measured/speed.md").Text, StringComparison.Ordinal);
    }

    [Fact]
    public void Text_is_escaped_and_the_longest_bar_has_the_largest_value()
    {
        BarGroup[] groups = [new("a & b", [new("x", 1, "1", true), new("y", 4, "<4>", false)])];
        XElement picture = XElement.Parse(BarChart.Svg("t", "d", "s", groups));
        int[] widths = [.. picture.Elements(Svg + "rect").Skip(1).Select(r => (int)r.Attribute("width")!)];
        Assert.Equal(4 * widths[0], widths[1]);
        Assert.Equal(["t", "a & b", "x", "1", "y", "<4>", "s"], picture.Elements(Svg + "text").Select(t => t.Value));
    }
}
