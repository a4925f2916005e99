using System.Diagnostics.Tracing;
using Microsoft.Extensions.Logging;

namespace LightQ.Server.Telemetry;

/// <summary>Says when a collector cannot be reached, and when it can be again: at most once an hour each of metrics and
/// of spans.</summary>
internal sealed class OtlpFailures(string endpoint, TimeProvider time, ILogger logger) : IDisposable
{
    private static readonly TimeSpan Interval = TimeSpan.FromHours(1);

    private readonly Lock _lock = new();
    private readonly Dictionary<string, (long Since, bool IsSaid)> _states = new(StringComparer.Ordinal);
    private readonly Reasons _reasons = new();

    /// <summary>Tells how an export went.</summary>
    /// <param name="what">What was exported.</param>
    /// <param name="isDelivered">Whether the collector has it.</param>
    public void Report(string what, bool isDelivered)
    {
        lock (_lock)
        {
            (long since, bool isSaid) = _states.GetValueOrDefault(what);
            if (isDelivered && isSaid)
            {
                _states[what] = (since, false);
                ServerLog.ExportedAgain(logger, what, endpoint);
            }
            else if (!isDelivered && (since == 0 || time.GetElapsedTime(since) >= Interval))
            {
                _states[what] = (time.GetTimestamp(), true);
                ServerLog.ExportFailed(logger, what, endpoint, _reasons.Last);
            }
        }
    }

    /// <inheritdoc/>
    public void Dispose() => _reasons.Dispose();

    /// <summary>
    /// The exporter reports why it failed only to event listeners. They are for the whole process: with several brokers
    /// in it the reason may be another's.
    /// </summary>
    private sealed class Reasons : EventListener
    {
        private const string ExporterSource = "OpenTelemetry-Exporter-OpenTelemetryProtocol";

        private volatile string? _last;

        /// <summary>The first line of the last reason.</summary>
        public string Last => _last ?? "the exporter gave no reason";

        /// <inheritdoc/>
        protected override void OnEventSourceCreated(EventSource eventSource)
        {
            if (eventSource.Name == ExporterSource)
                EnableEvents(eventSource, EventLevel.Warning);
        }

        /// <inheritdoc/>
        protected override void OnEventWritten(EventWrittenEventArgs eventData)
        {
            if (eventData.Payload?.OfType<string>().LastOrDefault() is { Length: > 0 } text)
                _last = text.Split('\n', 2)[0].Trim();
        }
    }
}
