using LightQ.Client;

namespace OpenTelemetry.Metrics;

/// <summary>Adds the metrics of LightQ clients.</summary>
public static class LightQMeterProviderBuilderExtensions
{
    /// <summary>Listens to the metrics of every <see cref="LightQClient"/> of the process.</summary>
    /// <param name="builder">The builder of the provider.</param>
    /// <returns><paramref name="builder"/>.</returns>
    /// <example>
    /// <code>
    /// builder.Services.AddOpenTelemetry().WithMetrics(metrics =>
    /// metrics.AddLightQInstrumentation().AddOtlpExporter());
    /// </code>
    /// </example>
    public static MeterProviderBuilder AddLightQInstrumentation(this MeterProviderBuilder builder)
    {
        ArgumentNullException.ThrowIfNull(builder);
        return builder.AddMeter(LightQTelemetry.MeterName);
    }
}
