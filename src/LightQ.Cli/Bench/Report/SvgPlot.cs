using System.Globalization;
using System.Net;
using System.Text;

namespace LightQ.Cli.Bench.Report;

/// <summary>Draws plots as inline SVG.</summary>
internal static class SvgPlot
{
    private const int Width = 720;
    private const int Height = 320;
    private const int Left = 80;
    private const int Right = 700;
    private const int Top = 30;
    private const int Bottom = 280;
    private const int Steps = 4;
    private const int NamesInRow = 5;
    private const int RowHeight = 18;
    private const int LegendY = 6;

    private static readonly double[] RoundNumbers = [1, 2, 4, 5, 8, 10];
    private static readonly string[] Colours = ["#0969da", "#8c959f", "#d97706", "#1a7f37", "#8250df"];

    /// <summary>Groups of bars; bars of one name have one colour in all groups.</summary>
    public static string Bars(string unit, IReadOnlyList<PlotSeries> groups)
    {
        string[] names = [.. groups.SelectMany(g => g.Points).Select(p => p.Name).Distinct()];
        double top = NiceTop(groups.SelectMany(g => g.Points).Max(p => p.Value));
        var svg = Begin(unit, names);
        for (int step = 0; step <= Steps; step++)
            AppendGridLine(svg, Bottom - (((double)Bottom - Top) * step / Steps), top * step / Steps);
        double groupWidth = (double)(Right - Left) / groups.Count,
            barWidth = groupWidth * 0.8 / names.Length;
        for (int g = 0; g < groups.Count; g++)
        {
            double x = Left + (g * groupWidth) + (groupWidth * 0.1);
            AppendLabel(svg, x + (groupWidth * 0.4), groups[g].Name);
            foreach ((string name, double value) in groups[g].Points)
            {
                int index = Array.IndexOf(names, name);
                double height = (Bottom - Top) * value / top;
                svg.Append(
                    CultureInfo.InvariantCulture,
                    $"<rect x=\"{x + (index * barWidth):F1}\" y=\"{Bottom - height:F1}\" "
                        + $"width=\"{barWidth * 0.9:F1}\" height=\"{height:F1}\" "
                        + $"fill=\"{Colours[index % Colours.Length]}\"><title>{name}: {value:N0}</title></rect>\n"
                );
            }
        }
        return svg.Append("</svg>\n").ToString();
    }

    /// <summary>Lines over named positions, on a logarithmic scale.</summary>
    public static string Lines(string unit, IReadOnlyList<PlotSeries> lines)
    {
        double[] values = [.. lines.SelectMany(l => l.Points).Select(p => p.Value).Where(v => v > 0)];
        int low = (int)Math.Floor(Math.Log10(values.Min())),
            high = Math.Max(low + 1, (int)Math.Ceiling(Math.Log10(values.Max())));
        var svg = Begin(unit, [.. lines.Select(l => l.Name)]);
        for (int power = low; power <= high; power++)
            AppendGridLine(svg, Y(Math.Pow(10, power)), Math.Pow(10, power));
        for (int i = 0; i < lines[0].Points.Count; i++)
            AppendLabel(svg, X(i), lines[0].Points[i].Name);
        for (int l = 0; l < lines.Count; l++)
        {
            string points = string.Join(
                ' ',
                lines[l]
                    .Points.Select((p, i) => string.Create(CultureInfo.InvariantCulture, $"{X(i):F1},{Y(p.Value):F1}"))
            );
            svg.Append(
                CultureInfo.InvariantCulture,
                $"<polyline points=\"{points}\" fill=\"none\" stroke=\"{Colours[l % Colours.Length]}\" "
                    + $"stroke-width=\"2\"{Dashes(l)}/>\n"
            );
        }
        return svg.Append("</svg>\n").ToString();

        double X(int index) => Left + ((Right - Left) * (index + 0.5) / lines[0].Points.Count);
        double Y(double value) =>
            Bottom - ((Bottom - Top) * Math.Clamp((Math.Log10(Math.Max(value, 1e-9)) - low) / (high - low), 0, 1));
    }

    private static StringBuilder Begin(string unit, string[] names)
    {
        var svg = new StringBuilder();
        int above = LegendTop(names.Length) - LegendY; // Names that do not fit into one row grow the plot upwards.
        svg.Append(
            CultureInfo.InvariantCulture,
            $"<svg viewBox=\"0 {above} {Width} {Height - above}\" width=\"{Width}\" role=\"img\">\n<text x=\"4\" "
                + $"y=\"16\">{unit}</text>\n"
        );
        for (int i = 0; i < names.Length; i++)
        {
            int x = Left + 70 + (i % NamesInRow * 110),
                y = LegendTop(names.Length) + (i / NamesInRow * RowHeight);
            svg.Append(
                CultureInfo.InvariantCulture,
                $"<rect x=\"{x}\" y=\"{y}\" width=\"12\" height=\"12\" fill=\"{Colours[i % Colours.Length]}\"/><text "
                    + $"x=\"{x + 18}\" y=\"{y + 10}\">{WebUtility.HtmlEncode(names[i])}</text>\n"
            );
        }
        return svg;
    }

    private static int LegendTop(int names) => LegendY - (Math.Max(0, names - 1) / NamesInRow * RowHeight);

    private static void AppendGridLine(StringBuilder svg, double y, double value) =>
        svg.Append(
            CultureInfo.InvariantCulture,
            $"<line x1=\"{Left}\" x2=\"{Right}\" y1=\"{y:F1}\" y2=\"{y:F1}\" stroke=\"currentColor\" "
                + $"stroke-opacity=\".2\"/><text x=\"{Left - 8}\" y=\"{y + 4:F1}\" "
                + $"text-anchor=\"end\">{Short(value)}</text>\n"
        );

    private static void AppendLabel(StringBuilder svg, double x, string text) =>
        svg.Append(
            CultureInfo.InvariantCulture,
            $"<text x=\"{x:F1}\" y=\"{Bottom + 20}\" text-anchor=\"middle\">{text}</text>\n"
        );

    /// <summary>Lines that share a colour differ in their dashes.</summary>
    private static string Dashes(int line) =>
        line < Colours.Length
            ? ""
            : string.Create(CultureInfo.InvariantCulture, $" stroke-dasharray=\"{3 * (line / Colours.Length)} 3\"");

    private static double NiceTop(double value)
    {
        double power = Math.Pow(10, Math.Floor(Math.Log10(Math.Max(value, 1))));
        return RoundNumbers.Select(m => m * power).First(t => t >= value);
    }

    private static string Short(double value) =>
        value switch
        {
            >= 1e6 => (value / 1e6).ToString("0.##", CultureInfo.InvariantCulture) + " M",
            >= 1e3 => (value / 1e3).ToString("0.##", CultureInfo.InvariantCulture) + " k",
            _ => value.ToString("0.####", CultureInfo.InvariantCulture),
        };
}
