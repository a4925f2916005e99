using System.Globalization;
using System.Text;

namespace LightQ.Server.Web;

/// <summary>Writes metrics in Prometheus' text format, version 0.0.4: families with help and type, then their samples.</summary>
internal sealed class PrometheusWriter
{
    /// <summary>The content type of the format.</summary>
    public const string ContentType = "text/plain; version=0.0.4; charset=utf-8";

    private readonly StringBuilder _text = new();
    private string _family = "";

    /// <summary>Begins a family of values that only rise; its name ends in <c>_total</c>.</summary>
    public PrometheusWriter Counter(string name, string help) => Begin(name, help, "counter");

    /// <summary>Begins a family of values that rise and fall.</summary>
    public PrometheusWriter Gauge(string name, string help) => Begin(name, help, "gauge");

    /// <summary>Adds a sample without labels.</summary>
    public PrometheusWriter Sample(double value)
    {
        _text.Append(_family);
        return Value(value);
    }

    /// <summary>Adds a sample with one label.</summary>
    public PrometheusWriter Sample(double value, string label, string labelValue)
    {
        _text.Append(_family).Append('{').Append(label).Append("=\"");
        Escape(labelValue, quotes: true);
        _text.Append("\"}");
        return Value(value);
    }

    /// <summary>Adds a sample with two labels.</summary>
    public PrometheusWriter Sample(double value, string label, string labelValue, string otherLabel, string otherValue)
    {
        _text.Append(_family).Append('{').Append(label).Append("=\"");
        Escape(labelValue, quotes: true);
        _text.Append("\",").Append(otherLabel).Append("=\"");
        Escape(otherValue, quotes: true);
        _text.Append("\"}");
        return Value(value);
    }

    /// <summary>What was written.</summary>
    public override string ToString() => _text.ToString();

    private PrometheusWriter Begin(string name, string help, string type)
    {
        _family = name;
        _text.Append("# HELP ").Append(name).Append(' ');
        Escape(help, quotes: false);
        _text.Append("\n# TYPE ").Append(name).Append(' ').Append(type).Append('\n');
        return this;
    }

    private PrometheusWriter Value(double value)
    {
        _text.Append(' ');
        if (double.IsFinite(value))
            _text.Append(CultureInfo.InvariantCulture, $"{value:R}");
        else
            _text.Append(double.IsNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf");
        _text.Append('\n');
        return this;
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
