using System.Globalization;

namespace LightQ.Dashboard.Live;

/// <summary>Figures of <c>/metrics</c> that have no labels.</summary>
internal static class MetricsText
{
    /// <summary>Reads the text of Prometheus.</summary>
    public static Dictionary<string, double> Read(string text)
    {
        var figures = new Dictionary<string, double>();
        foreach (ReadOnlySpan<char> line in text.AsSpan().EnumerateLines())
        {
            int space = line.LastIndexOf(' ');
            if (space <= 0 || line[0] == '#' || line[..space].Contains('{'))
                continue;
            if (double.TryParse(line[(space + 1)..], CultureInfo.InvariantCulture, out double value))
                figures[line[..space].ToString()] = value;
        }

        return figures;
    }
}
