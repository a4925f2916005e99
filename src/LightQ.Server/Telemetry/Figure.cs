namespace LightQ.Server.Telemetry;

/// <summary>How a figure behaves, in OpenTelemetry's words.</summary>
internal enum FigureKind
{
    /// <summary>Only rises.</summary>
    Counter,

    /// <summary>Rises and falls, and a sum over its tags means something.</summary>
    UpDownCounter,

    /// <summary>Rises and falls, and a sum over its tags means nothing.</summary>
    Gauge,
}

/// <summary>A value, with the values of the figure's tags in their order.</summary>
internal readonly record struct FigureSample(double Value, string First = "", string Second = "");

/// <summary>Something that is measured: the one description that both the meter and the page of metrics go
/// by.</summary>
/// <param name="Name">OpenTelemetry's name, such as <c>lightq.topic.stored</c>.</param>
/// <param name="Kind">How it behaves.</param>
/// <param name="Unit">Its unit by UCUM: <c>By</c>, <c>s</c>, what is counted in braces, or nothing.</param>
/// <param name="Help">What it says.</param>
/// <param name="Read">Its samples in a reading; none where there is nothing to report.</param>
/// <param name="Tags">The names of its tags, two at most.</param>
internal sealed record Figure(
    string Name,
    FigureKind Kind,
    string Unit,
    string Help,
    Func<FigureReading, IEnumerable<FigureSample>> Read,
    params string[] Tags
)
{
    /// <summary>The unit as Prometheus spells it; null where it has none: what is counted is not a unit.</summary>
    public string? BaseUnit { get; } =
        Unit switch
        {
            "By" => "bytes",
            "s" => "seconds",
            _ => null,
        };

    /// <summary>The name of Prometheus' family, by OpenTelemetry's rules: <c>lightq_topic_stored_bytes</c>. A counter's
    /// samples are called so with <c>_total</c>.</summary>
    public string Family => BaseUnit is null ? Name.Replace('.', '_') : $"{Name.Replace('.', '_')}_{BaseUnit}";
}
