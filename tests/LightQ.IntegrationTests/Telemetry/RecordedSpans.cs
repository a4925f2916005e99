using System.Collections.Concurrent;
using System.Diagnostics;
using LightQ.Client;

namespace LightQ.IntegrationTests.Telemetry;

/// <summary>Listens to spans of the client, and of the tests' own source, and keeps those that have ended.</summary>
internal sealed class RecordedSpans : IDisposable
{
    private const string ApplicationName = "LightQ.Tests.Application";

    /// <summary>The application's.</summary>
    public static readonly ActivitySource Application = new(ApplicationName);

    private readonly ConcurrentQueue<Activity> _ended = new();
    private readonly ActivityListener _listener;

    /// <summary>Begins to listen.</summary>
    /// <param name="samples">Which spans are wanted; null for all.</param>
    public RecordedSpans(Func<string, bool>? samples = null)
    {
        _listener = new ActivityListener
        {
            // By name: it is asked while the source is being made.
            ShouldListenTo = source => source.Name is LightQTelemetry.ActivitySourceName or ApplicationName,
            Sample = (ref ActivityCreationOptions<ActivityContext> options) =>
                samples is null || samples(options.Name)
                    ? ActivitySamplingResult.AllDataAndRecorded
                    : ActivitySamplingResult.None,
            ActivityStopped = _ended.Enqueue,
        };
        ActivitySource.AddActivityListener(_listener);
    }

    /// <summary>What an exporter would get of the client's.</summary>
    public IEnumerable<Activity> Exported =>
        _ended.Where(span => span.Recorded && span.Source.Name == LightQTelemetry.ActivitySourceName);

    public Activity[] Named(string name) => [.. Exported.Where(span => span.DisplayName == name)];

    public void Dispose() => _listener.Dispose();
}
