using System.Diagnostics;
using LightQ.Client.Telemetry;

namespace LightQ.Client;

/// <summary>
/// The client's names for OpenTelemetry, and the way from a message back to the span that published it.
/// </summary>
/// <remarks>
/// Spans and metrics follow OpenTelemetry's semantic conventions for messaging; docs/use/telemetry.md lists them. While
/// no listener is registered, nothing is measured and no message carries a trace context.
/// </remarks>
/// <example>
/// <code>
/// using TracerProvider tracing = Sdk.CreateTracerProviderBuilder().AddSource(LightQTelemetry.ActivitySourceName).AddOtlpExporter().Build();
/// using MeterProvider metering = Sdk.CreateMeterProviderBuilder().AddMeter(LightQTelemetry.MeterName).AddOtlpExporter().Build();
/// </code>
/// </example>
public static class LightQTelemetry
{
    /// <summary>The name of the client's <see cref="ActivitySource"/>.</summary>
    public const string ActivitySourceName = "LightQ.Client";

    /// <summary>The name of the client's <see cref="System.Diagnostics.Metrics.Meter"/>.</summary>
    public const string MeterName = "LightQ.Client";

    /// <summary>
    /// Reads the W3C trace context that a message carries: the context of the span that published it.
    /// </summary>
    /// <param name="headers">The message's headers.</param>
    /// <param name="context">The context, marked as remote: use it as a parent or as a link.</param>
    /// <returns>False when the message carries none, or none that can be read.</returns>
    public static bool TryGetTraceContext(HeaderEnumerator headers, out ActivityContext context) =>
        TraceContext.TryRead(headers, out context);
}
