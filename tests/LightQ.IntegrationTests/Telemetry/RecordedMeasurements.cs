using System.Collections.Concurrent;
using System.Diagnostics.Metrics;
using LightQ.Client;

namespace LightQ.IntegrationTests.Telemetry;

/// <summary>Listens to the client's instruments.</summary>
internal sealed class RecordedMeasurements : IDisposable
{
    private readonly ConcurrentQueue<(
        Instrument Instrument,
        double Value,
        Dictionary<string, object?> Attributes
    )> _measured = new();
    private readonly MeterListener _listener = new();

    public RecordedMeasurements()
    {
        _listener.InstrumentPublished = (instrument, listener) =>
        {
            if (instrument.Meter.Name == LightQTelemetry.MeterName)
                listener.EnableMeasurementEvents(instrument);
        };
        _listener.SetMeasurementEventCallback<long>(
            (instrument, value, attributes, _) => Add(instrument, value, attributes)
        );
        _listener.SetMeasurementEventCallback<double>(
            (instrument, value, attributes, _) => Add(instrument, value, attributes)
        );
        _listener.Start();
    }

    /// <summary>What an instrument measured for an operation.</summary>
    public (double Value, Dictionary<string, object?> Attributes)[] Of(string instrument, string operation) =>
        [
            .. _measured
                .Where(m =>
                    m.Instrument.Name == instrument && Equals(m.Attributes["messaging.operation.name"], operation)
                )
                .Select(m => (m.Value, m.Attributes)),
        ];

    /// <summary>An instrument that measured something.</summary>
    public Instrument Instrument(string name) => _measured.First(m => m.Instrument.Name == name).Instrument;

    public void Dispose() => _listener.Dispose();

    private void Add(Instrument instrument, double value, ReadOnlySpan<KeyValuePair<string, object?>> attributes) =>
        _measured.Enqueue((instrument, value, new Dictionary<string, object?>(attributes.ToArray())));
}
