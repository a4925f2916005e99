using System.Diagnostics;
using System.Diagnostics.Metrics;

namespace LightQ.Client.Telemetry;

/// <summary>
/// The client's source of spans and its instruments, one of each a process. Code that uses one checks first whether a
/// listener is registered.
/// </summary>
internal static class Instruments
{
    private static readonly string? Version = typeof(Instruments).Assembly.GetName().Version?.ToString(3);
    private static readonly Meter Meter = new(LightQTelemetry.MeterName, Version);

    // Those that the conventions ask for.
    private static readonly InstrumentAdvice<double> Seconds = new()
    {
        HistogramBucketBoundaries = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10],
    };

    public static readonly ActivitySource Source = new(LightQTelemetry.ActivitySourceName, Version);

    public static readonly Counter<long> SentMessages = Meter.CreateCounter<long>(
        "messaging.client.sent.messages",
        "{message}",
        "Messages that were sent to the broker, by outcome."
    );

    public static readonly Counter<long> ConsumedMessages = Meter.CreateCounter<long>(
        "messaging.client.consumed.messages",
        "{message}",
        "Messages that were handed to the application."
    );

    public static readonly Counter<long> LateMessages = Meter.CreateCounter<long>(
        "lightq.client.late.messages",
        "{message}",
        "Messages that were settled after their lock had run out: they are delivered again."
    );

    public static readonly Histogram<double> OperationDuration = Meter.CreateHistogram(
        "messaging.client.operation.duration",
        "s",
        "How long batches took from their first message to their ack, and settlements to their answer.",
        advice: Seconds
    );

    public static readonly Histogram<double> ProcessDuration = Meter.CreateHistogram(
        "messaging.process.duration",
        "s",
        "How long handlers took.",
        advice: Seconds
    );

    public static readonly UpDownCounter<long> PausedProcessors = Meter.CreateUpDownCounter<long>(
        "lightq.client.paused.processors",
        "{processor}",
        "Processors that are paused, because their handler cannot be made or has asked for it."
    );
}
