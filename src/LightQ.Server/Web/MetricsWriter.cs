using System.Globalization;
using System.Text;
using LightQ.Server.Telemetry;

namespace LightQ.Server.Web;

/// <summary>Writes figures as families of samples, in one of two formats: what is different in them is here and nowhere
/// else.</summary>
internal sealed class MetricsWriter(MetricsFormat format)
{
    private readonly StringBuilder _text = new();

    private bool IsOpen => format == MetricsFormat.OpenMetrics;

    /// <summary>The content type of a format.</summary>
    public static string ContentTypeOf(MetricsFormat format) =>
        format == MetricsFormat.OpenMetrics
            ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
            : "text/plain; version=0.0.4; charset=utf-8";

    /// <summary>Adds a family; nothing where it has no samples.</summary>
    public void Write(Figure figure, IEnumerable<FigureSample> samples)
    {
        string name = figure.Kind == FigureKind.Counter ? figure.Family + "_total" : figure.Family;
        bool isBegun = false;
        foreach (FigureSample sample in samples)
        {
            if (!isBegun)
                Begin(figure, IsOpen ? figure.Family : name);
            isBegun = true;
            _text.Append(name);
            WriteLabels(figure.Tags, sample);
            WriteValue(sample.Value);
        }
    }

    /// <summary>What was written, with the end that OpenMetrics wants.</summary>
    public string End() => IsOpen ? _text.Append("# EOF\n").ToString() : _text.ToString();

    private void Begin(Figure figure, string family)
    {
        _text.Append("# HELP ").Append(family).Append(' ');
        Escape(figure.Help, quotes: IsOpen);
        _text.Append("\n# TYPE ").Append(family).Append(figure.Kind == FigureKind.Counter ? " counter\n" : " gauge\n");
        if (IsOpen && figure.BaseUnit is { } unit)
            _text.Append("# UNIT ").Append(family).Append(' ').Append(unit).Append('\n');
    }

    private void WriteLabels(string[] names, FigureSample sample)
    {
        for (int i = 0; i < names.Length; i++)
        {
            _text.Append(i == 0 ? '{' : ',').Append(names[i]).Append("=\"");
            Escape(i == 0 ? sample.First : sample.Second, quotes: true);
            _text.Append('"');
        }
        if (names.Length != 0)
            _text.Append('}');
    }

    private void WriteValue(double value)
    {
        _text.Append(' ');
        if (double.IsFinite(value))
        {
            _text.Append(CultureInfo.InvariantCulture, $"{value:R}");
        }
        else
        {
            _text.Append(
                double.IsNaN(value) ? "NaN"
                : value > 0 ? "+Inf"
                : "-Inf"
            );
        }

        _text.Append('\n');
    }

    private void Escape(string value, bool quotes)
    {
        foreach (char c in value)
        {
            _ = c switch
            {
                '\\' => _text.Append(@"\\"),
                '\n' => _text.Append(@"\n"),
                '"' when quotes => _text.Append("\\\""),
                _ => _text.Append(c),
            };
        }
    }
}
