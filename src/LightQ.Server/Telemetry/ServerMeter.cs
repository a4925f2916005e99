using System.Diagnostics;
using System.Diagnostics.Metrics;

namespace LightQ.Server.Telemetry;

/// <summary>
/// A broker's meter: an observable instrument for each figure. While nothing collects the figures, nothing is read.
/// </summary>
internal sealed class ServerMeter : IDisposable
{
    /// <summary>How old a reading may be that another instrument is answered from.</summary>
    private static readonly TimeSpan MaxAge = TimeSpan.FromSeconds(1);

    private readonly Lock _lock = new();
    private readonly FigureSource _source;
    private readonly HashSet<Figure> _answered = new(ReferenceEqualityComparer.Instance);
    private FigureReading? _reading;
    private long _taken;
    private bool _isEnded;

    /// <param name="source">Where figures come from.</param>
    /// <param name="port">The data port, which distinguishes the brokers of a process.</param>
    public ServerMeter(FigureSource source, int port)
    {
        _source = source;
        Meter = new Meter(
            new MeterOptions(LightQServerTelemetry.MeterName)
            {
                Version = ServerVersion.Text,
                Tags = [new("server.port", port)],
            }
        );
        foreach (Figure figure in Figures.OfBroker)
            Add(figure);
    }

    /// <summary>The meter.</summary>
    public Meter Meter { get; }

    /// <summary>Takes the instruments away, before the broker goes.</summary>
    public void Dispose()
    {
        lock (_lock)
            (_isEnded, _reading) = (true, null);
        Meter.Dispose();
    }

    private void Add(Figure figure)
    {
        string? unit = figure.Unit.Length == 0 ? null : figure.Unit;
        _ = figure.Kind switch
        {
            FigureKind.Counter => Meter.CreateObservableCounter(figure.Name, () => Observe(figure), unit, figure.Help),
            FigureKind.UpDownCounter => (Instrument)
                Meter.CreateObservableUpDownCounter(figure.Name, () => Observe(figure), unit, figure.Help),
            _ => Meter.CreateObservableGauge(figure.Name, () => Observe(figure), unit, figure.Help),
        };
    }

    private Measurement<double>[] Observe(Figure figure)
    {
        lock (_lock)
        {
            if (_isEnded)
                return [];
            // An instrument that asks again begins another collection; those before it are answered from one reading.
            if (!_answered.Add(figure) || _reading is null || Stopwatch.GetElapsedTime(_taken) > MaxAge)
                Take(figure);
            Measurement<double>[] measured =
            [
                .. figure
                    .Read(_reading!)
                    .Select(sample => new Measurement<double>(sample.Value, TagsOf(figure, sample))),
            ];
            if (_answered.Count == Figures.OfBroker.Count)
                _reading = null; // All are answered: what it holds is not kept alive until the next collection.
            return measured;
        }
    }

    private void Take(Figure figure)
    {
        _reading = FigureReading.TakeAsync(_source, _ => true, true, CancellationToken.None).GetAwaiter().GetResult();
        _taken = Stopwatch.GetTimestamp();
        _answered.Clear();
        _answered.Add(figure);
    }

    private static KeyValuePair<string, object?>[] TagsOf(Figure figure, FigureSample sample) =>
        figure.Tags switch
        {
            [] => [],
            [var first] => [new(first, sample.First)],
            [var first, var second] => [new(first, sample.First), new(second, sample.Second)],
            _ => throw new InvalidOperationException($"{figure.Name} has more than two tags."),
        };
}
