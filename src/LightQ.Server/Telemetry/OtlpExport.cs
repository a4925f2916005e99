using System.Diagnostics;
using System.Globalization;
using Microsoft.Extensions.Logging;
using OpenTelemetry;
using OpenTelemetry.Exporter;
using OpenTelemetry.Metrics;
using OpenTelemetry.Resources;
using OpenTelemetry.Trace;

namespace LightQ.Server.Telemetry;

/// <summary>Sends a broker's metrics and spans to a collector, by OpenTelemetry's own SDK. Nothing of that SDK is
/// loaded before there is one of these.</summary>
internal sealed class OtlpExport
{
    /// <summary>How long a stop waits for what is not yet sent.</summary>
    private static readonly TimeSpan FlushTimeout = TimeSpan.FromSeconds(3);

    private const int UsualIntervalMilliseconds = 60_000,
        UsualTimeoutMilliseconds = 30_000;

    private readonly MeterProvider _metrics;
    private readonly TracerProvider _traces;
    private readonly OtlpFailures _failures;

    private OtlpExport(MeterProvider metrics, TracerProvider traces, OtlpFailures failures) =>
        (_metrics, _traces, _failures) = (metrics, traces, failures);

    private static MetricReaderTemporalityPreference Temporality =>
        string.Equals(
            Environment.GetEnvironmentVariable("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE"),
            "delta",
            StringComparison.OrdinalIgnoreCase
        )
            ? MetricReaderTemporalityPreference.Delta
            : MetricReaderTemporalityPreference.Cumulative;

    /// <summary>Begins. Whether there is a collector shows with the first export.</summary>
    /// <param name="options">Where to; it has an endpoint.</param>
    /// <param name="meter">The broker's metrics; the runtime's go along.</param>
    /// <param name="spans">The broker's spans.</param>
    /// <param name="dataPort">Tells the brokers of a machine apart.</param>
    /// <param name="time">The clock of the log's lines.</param>
    /// <param name="logger">Where to say that it fails.</param>
    public static OtlpExport Start(
        OtlpOptions options,
        ServerMeter meter,
        CallSpans spans,
        int dataPort,
        TimeProvider time,
        ILogger logger
    )
    {
        var failures = new OtlpFailures(options.Endpoint!.GetLeftPart(UriPartial.Path), time, logger);
        ResourceBuilder resource = ResourceBuilder
            .CreateEmpty()
            .AddTelemetrySdk()
            .AddService(
                "lightq",
                serviceVersion: ServerVersion.Text,
                autoGenerateServiceInstanceId: false,
                serviceInstanceId: string.Create(CultureInfo.InvariantCulture, $"{Environment.MachineName}:{dataPort}")
            )
            .AddEnvironmentVariableDetector(); // Last: OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES count.
        var schedule = new PeriodicExportingMetricReaderOptions();
        var batches = new BatchExportActivityProcessorOptions();
        MeterProvider metrics = Sdk.CreateMeterProviderBuilder()
            .SetResourceBuilder(resource)
            .AddMeter(LightQServerTelemetry.MeterName, "System.Runtime")
            // Another broker of this process.
            .AddView(instrument =>
                instrument.Meter.Name == LightQServerTelemetry.MeterName && instrument.Meter != meter.Meter
                    ? MetricStreamConfiguration.Drop
                    : null
            )
            .AddReader(
                new PeriodicExportingMetricReader(
                    new MetricExporter(ExporterOptions(options, "v1/metrics"), failures),
                    schedule.ExportIntervalMilliseconds ?? UsualIntervalMilliseconds,
                    schedule.ExportTimeoutMilliseconds ?? UsualTimeoutMilliseconds
                )
                {
                    TemporalityPreference = Temporality,
                }
            )
            .Build();
        TracerProvider traces = Sdk.CreateTracerProviderBuilder()
            .SetResourceBuilder(resource)
            .AddSource(LightQServerTelemetry.ActivitySourceName)
            .AddProcessor(
                new OwnSpans(new SpanExporter(ExporterOptions(options, "v1/traces"), failures), spans.Source, batches)
            )
            .Build();
        return new OtlpExport(metrics, traces, failures);
    }

    /// <summary>Sends what is left, and ends. An export that hangs is left to its own time-out.</summary>
    public async Task StopAsync()
    {
        int milliseconds = (int)FlushTimeout.TotalMilliseconds;
        await Task.WhenAll(
                EndAsync(() => _metrics.Shutdown(milliseconds), _metrics.Dispose, "metrics"),
                EndAsync(() => _traces.Shutdown(milliseconds), _traces.Dispose, "spans")
            )
            .ConfigureAwait(false);
        _failures.Dispose();
    }

    private async Task EndAsync(Func<bool> shutdown, Action dispose, string what)
    {
        bool isSent;
        try
        {
            isSent = await Task.Run(() =>
                {
                    bool isDone = shutdown();
                    dispose();
                    return isDone;
                })
                .WaitAsync(FlushTimeout + TimeSpan.FromSeconds(1))
                .ConfigureAwait(false);
        }
        catch (TimeoutException)
        {
            isSent = false;
        }
        if (!isSent)
            _failures.Report(what, isDelivered: false);
    }

    private static OtlpExporterOptions ExporterOptions(OtlpOptions options, string signalPath)
    {
        // Has read OTEL_EXPORTER_OTLP_TIMEOUT, _COMPRESSION, _CERTIFICATE and so on.
        var exporter = new OtlpExporterOptions
        {
            Protocol =
                options.Protocol == OtlpProtocol.Grpc ? OtlpExportProtocol.Grpc : OtlpExportProtocol.HttpProtobuf,
            Endpoint = options.Protocol == OtlpProtocol.Grpc ? options.Endpoint! : Below(options.Endpoint!, signalPath),
        };
        if (options.Headers.Length != 0)
            exporter.Headers = options.Headers;
        return exporter;
    }

    private static Uri Below(Uri endpoint, string path) =>
        new UriBuilder(endpoint) { Path = endpoint.AbsolutePath.TrimEnd('/') + "/" + path }.Uri;

    private sealed class MetricExporter(OtlpExporterOptions options, OtlpFailures failures)
        : OtlpMetricExporter(options)
    {
        public override ExportResult Export(in Batch<Metric> batch)
        {
            ExportResult result = base.Export(batch);
            failures.Report("metrics", result == ExportResult.Success);
            return result;
        }
    }

    private sealed class SpanExporter(OtlpExporterOptions options, OtlpFailures failures) : OtlpTraceExporter(options)
    {
        public override ExportResult Export(in Batch<Activity> batch)
        {
            ExportResult result = base.Export(batch);
            failures.Report("spans", result == ExportResult.Success);
            return result;
        }
    }

    /// <summary>The spans of one broker: the provider hears every source of that name in the process.</summary>
    private sealed class OwnSpans(
        SpanExporter exporter,
        ActivitySource source,
        BatchExportActivityProcessorOptions batches
    )
        : BatchActivityExportProcessor(
            exporter,
            batches.MaxQueueSize,
            batches.ScheduledDelayMilliseconds,
            batches.ExporterTimeoutMilliseconds,
            batches.MaxExportBatchSize
        )
    {
        public override void OnEnd(Activity data)
        {
            if (data.Source == source)
                base.OnEnd(data);
        }
    }
}
