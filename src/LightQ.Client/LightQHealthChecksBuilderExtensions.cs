using LightQ.Client;
using LightQ.Client.Hosting;
using Microsoft.Extensions.Diagnostics.HealthChecks;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Adds LightQ to an application's health checks.</summary>
public static class LightQHealthChecksBuilderExtensions
{
    /// <summary>How much longer the framework waits than the check, whose own words say what is wrong.</summary>
    private static readonly TimeSpan Margin = TimeSpan.FromSeconds(1);

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
    /// How long the check waits for the broker before it reports a failure; null (the default): 1 s.
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
            new HealthCheckRegistration(
                name,
                provider => Of(provider, clientKey, timeout),
                failureStatus,
                tags,
                timeout + Margin
            )
        );
    }

    /// <summary>The check of the client, and of what the host does with it, if anything.</summary>
    private static LightQHealthCheck Of(IServiceProvider services, object? clientKey, TimeSpan? timeout) =>
        new(
            services.Of<LightQClient>(clientKey),
            clientKey is null ? services.GetService<StartService>() : services.GetKeyedService<StartService>(clientKey),
            timeout
        );
}
