using LightQ.Client;
using LightQ.Client.Hosting;
using Microsoft.Extensions.Diagnostics.HealthChecks;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Adds LightQ to an application's health checks.</summary>
public static class LightQHealthChecksBuilderExtensions
{
    /// <summary>Adds a <see cref="LightQHealthCheck"/>.</summary>
    /// <param name="builder">What <c>AddHealthChecks</c> returns.</param>
    /// <param name="name">
    /// The check's name; null (the default) for <c>lightq</c>, or for the key of a client with one.
    /// </param>
    /// <param name="failureStatus">
    /// The status that the check reports when it fails; null (the default) for unhealthy.
    /// </param>
    /// <param name="tags">Tags by which checks are chosen; null for none.</param>
    /// <param name="timeout">
    /// How long the check may take; null (the default): as long as <see cref="LightQClientOptions.ConnectTimeout"/>.
    /// </param>
    /// <param name="clientKey">The key of the client; null (the default) for the one without.</param>
    /// <returns><paramref name="builder"/>.</returns>
    /// <example>
    /// <code>
    /// builder.Services.AddHealthChecks().AddLightQ();
    /// </code>
    /// </example>
    public static IHealthChecksBuilder AddLightQ(
        this IHealthChecksBuilder builder,
        string? name = null,
        HealthStatus? failureStatus = null,
        IEnumerable<string>? tags = null,
        TimeSpan? timeout = null,
        object? clientKey = null
    )
    {
        ArgumentNullException.ThrowIfNull(builder);
        name ??= clientKey?.ToString() ?? "lightq";
        return builder.Add(
            new HealthCheckRegistration(name, provider => Of(provider, clientKey), failureStatus, tags, timeout)
        );
    }

    /// <summary>The check of the host's services, if it has any.</summary>
    private static LightQHealthCheck Of(IServiceProvider services, object? clientKey) =>
        (
            clientKey is null
                ? services.GetService<LightQHealthCheck>()
                : services.GetKeyedService<LightQHealthCheck>(clientKey)
        ) ?? new LightQHealthCheck(services.Of<LightQClient>(clientKey));
}
