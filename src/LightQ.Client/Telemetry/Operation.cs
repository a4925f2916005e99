using System.Diagnostics;
using System.Diagnostics.Metrics;
using System.Globalization;

namespace LightQ.Client.Telemetry;

/// <summary>
/// One operation on one partition of a topic: the attributes that all its spans and measurements have, made once.
/// </summary>
internal sealed class Operation
{
    private readonly KeyValuePair<string, object?>[] _attributes;
    private readonly string _spanName;
    private readonly ActivityKind _kind;

    /// <param name="name">What this system calls it.</param>
    /// <param name="type">What the conventions call it; null for nothing they know.</param>
    /// <param name="kind">The kind of its spans.</param>
    /// <param name="at">Where it happens.</param>
    public Operation(string name, string? type, ActivityKind kind, in OperationPlace at)
    {
        _spanName = $"{name} {at.Topic}";
        _kind = kind;
        List<KeyValuePair<string, object?>> attributes =
        [
            new(Attributes.System, "lightq"),
            new(Attributes.OperationName, name),
            new(Attributes.Destination, at.Topic),
            new(Attributes.Partition, at.Partition.ToString(CultureInfo.InvariantCulture)),
            new(Attributes.ServerAddress, at.Broker.Host),
            new(Attributes.ServerPort, at.Broker.DataPort),
        ];
        if (type is not null)
            attributes.Add(new(Attributes.OperationType, type));
        if (at.Group is not null)
            attributes.Add(new(Attributes.Group, at.Group));
        _attributes = [.. attributes];
    }

    /// <summary>Starts a span if a listener wants it. What is current stays so.</summary>
    /// <param name="parent">Its parent; the default for what is current, if anything is.</param>
    /// <param name="links">What it belongs to besides.</param>
    /// <param name="start">When it began; the default for now.</param>
    public Activity? StartSpan(
        ActivityContext parent = default,
        IEnumerable<ActivityLink>? links = null,
        DateTimeOffset start = default
    )
    {
        Activity? current = Activity.Current;
        Activity? span = Instruments.Source.StartActivity(_spanName, _kind, parent, _attributes, links, start);
        if (span is not null)
            Activity.Current = current;
        return span;
    }

    /// <summary>Counts messages.</summary>
    public void Count(Counter<long> counter, int messages, string? error = null) => counter.Add(messages, With(error));

    /// <summary>Records how long something took.</summary>
    public void Record(Histogram<double> histogram, TimeSpan duration, string? error = null) =>
        histogram.Record(duration.TotalSeconds, With(error));

    private ReadOnlySpan<KeyValuePair<string, object?>> With(string? error) =>
        error is null ? _attributes : [.. _attributes, new(Attributes.ErrorType, error)];
}
