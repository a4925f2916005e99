using System.Globalization;
using System.Security;
using System.Text;

namespace LightQ.IntegrationTests.Docs;

/// <summary>
/// Bars beside each other as an SVG: text, rectangles and the system's font, on a light panel of its own, so that it
/// reads on light and dark pages alike.
/// </summary>
internal sealed class BarChart
{
    private const int Width = 760,
        Margin = 20,
        BarLeft = 190,
        BarHeight = 18;

    private const int Row = 24,
        LongestBar = 440,
        TextDrop = 13;

    private const string Ours = "#1f6feb",
        Others = "#8c959f",
        Ink = "#1f2328",
        Faint = "#59636e";

    private readonly StringBuilder _shapes = new();
    private readonly string _title,
        _description,
        _source;
    private readonly double _largest;
    private int _y = 62;

    private BarChart(string title, string description, string source, double largest) =>
        (_title, _description, _source, _largest) = (title, description, source, largest);

    /// <summary>The text of the SVG.</summary>
    /// <param name="title">What is shown, with its unit.</param>
    /// <param name="description">The same for a reader who does not see it: every figure.</param>
    /// <param name="source">Which command, version and date the figures are from.</param>
    /// <param name="groups">The bars, in order; all have one scale, which begins at zero.</param>
    public static string Svg(string title, string description, string source, IReadOnlyList<BarGroup> groups)
    {
        var chart = new BarChart(title, description, source, groups.Max(g => g.Bars.Max(b => b.Value)));
        foreach (BarGroup group in groups)
            chart.Add(group);
        return chart.ToString();
    }

    public override string ToString()
    {
        int height = _y + 34;
        return string.Create(
                CultureInfo.InvariantCulture,
                $"""
                <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {Width} {height}" width="{Width}" height="{height}"
                  role="img" aria-labelledby="title description" font-family="system-ui, sans-serif" font-size="13">
                <title id="title">{Escaped(_title)}</title>
                <desc id="description">{Escaped(_description)}</desc>
                <rect x="0.5" y="0.5" width="{Width - 1}" height="{height - 1}" rx="6" fill="#ffffff" stroke="#d1d9e0"/>
                <text x="{Margin}" y="32" font-size="16" font-weight="600" fill="{Ink}">{Escaped(_title)}</text>
                {_shapes}<text x="{Margin}" y="{height - 16}" font-size="11" fill="{Faint}">{Escaped(_source)}</text>
                </svg>

                """
            )
            .ReplaceLineEndings("\n");
    }

    private static string Escaped(string text) => SecurityElement.Escape(text)!;

    private void Add(BarGroup group)
    {
        Text(Margin, group.Name, Ink, "start", " font-weight=\"600\"");
        foreach (Bar bar in group.Bars)
        {
            int length = Math.Max(1, (int)Math.Round(bar.Value / _largest * LongestBar));
            Text(BarLeft - 10, bar.Name, Ink, "end");
            string colour = bar.IsOurs ? Ours : Others;
            _shapes
                .Append(
                    CultureInfo.InvariantCulture,
                    $"""<rect x="{BarLeft}" y="{_y}" width="{length}" height="{BarHeight}" fill="{colour}"/>"""
                )
                .Append('\n');
            Text(BarLeft + length + 8, bar.Text, Faint, "start");
            _y += Row;
        }
        _y += 10;
    }

    private void Text(int x, string text, string colour, string anchor, string more = "") =>
        _shapes
            .Append(
                CultureInfo.InvariantCulture,
                $"""<text x="{x}" y="{_y + TextDrop}" text-anchor="{anchor}" fill="{colour}"{more}>{Escaped(text)}</text>"""
            )
            .Append('\n');
}
