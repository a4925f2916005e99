using System.Diagnostics;
using System.Diagnostics.Metrics;

namespace LightQ.Server;

/// <summary>The broker's names for OpenTelemetry. docs/use/telemetry.md lists metrics and spans.</summary>
/// <remarks>
/// For a program that contains a broker and has an OpenTelemetry SDK of its own. <c>lightq server</c> exports by
/// itself: <see cref="LightQServerOptions.Otlp"/>.
/// </remarks>
/// <example>
/// <code>
/// using MeterProvider metering = Sdk.CreateMeterProviderBuilder().AddMeter(LightQServerTelemetry.MeterName).AddOtlpExporter().Build();
/// using TracerProvider tracing = Sdk.CreateTracerProviderBuilder().AddSource(LightQServerTelemetry.ActivitySourceName).AddOtlpExporter().Build();
/// </code>
/// </example>
public static class LightQServerTelemetry
{
    /// <summary>
    /// The name of the broker's <see cref="Meter"/>; each broker of a process has its own meter, with its data port as
    /// the tag <c>server.port</c>.
    /// </summary>
    public const string MeterName = "LightQ.Server";

    /// <summary>The name of the broker's <see cref="ActivitySource"/>: a span for each call of the control
    /// plane.</summary>
    public const string ActivitySourceName = "LightQ.Server";
}
