using LightQ.Client;

namespace OpenTelemetry.Trace;

/// <summary>Adds the traces of LightQ clients.</summary>
public static class LightQTracerProviderBuilderExtensions
{
    /// <summary>
    /// Listens to the spans of every <see cref="LightQClient"/> of the process. From then on messages carry their trace
    /// context.
    /// </summary>
    /// <param name="builder">The builder of the provider.</param>
    /// <returns><paramref name="builder"/>.</returns>
    /// <example>
    /// <code>
    /// builder.Services.AddOpenTelemetry().WithTracing(tracing =>
    /// tracing.AddLightQInstrumentation().AddOtlpExporter());
    /// </code>
    /// </example>
    public static TracerProviderBuilder AddLightQInstrumentation(this TracerProviderBuilder builder)
    {
        ArgumentNullException.ThrowIfNull(builder);
        return builder.AddSource(LightQTelemetry.ActivitySourceName);
    }
}
