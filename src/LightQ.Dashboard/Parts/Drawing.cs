using System.Globalization;
using System.Text;

namespace LightQ.Dashboard.Parts;

/// <summary>Lines of SVG.</summary>
internal static class Drawing
{
    /// <summary>A coordinate, whatever the language of the browser.</summary>
    public static string Number(double value) => value.ToString("0.##", CultureInfo.InvariantCulture);

    /// <summary>A line through points.</summary>
    public static string Path(IEnumerable<(double X, double Y)> points)
    {
        var path = new StringBuilder();
        foreach ((double x, double y) in points)
            path.Append(path.Length == 0 ? 'M' : 'L').Append(Number(x)).Append(' ').Append(Number(y));
        return path.ToString();
    }

    /// <summary>A round number that is not below a value, for the upper end of an axis.</summary>
    public static double Ceiling(double value)
    {
        if (value <= 0)
            return 4;
        double power = Math.Pow(10, Math.Floor(Math.Log10(value)));
        foreach (double step in (ReadOnlySpan<double>)[1, 2, 2.5, 5])
        {
            if (value <= step * power)
                return step * power;
        }

        return 10 * power;
    }
}
