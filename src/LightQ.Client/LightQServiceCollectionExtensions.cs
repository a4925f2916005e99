using LightQ.Client;
using Microsoft.Extensions.Logging;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Registers LightQ with a service collection.</summary>
public static class LightQServiceCollectionExtensions
{
    /// <summary>Registers one <see cref="LightQClient"/> for the whole application, which logs to the application's loggers and is disposed with it.</summary>
    /// <param name="services">Where to register.</param>
    /// <param name="connectionString"><c>lightq://[user[:password]@]host[:data-port][?control=PORT&amp;tls=true&amp;ca=FILE]</c>.</param>
    /// <param name="configure">Changes the options further; null for no change.</param>
    /// <returns><paramref name="services"/>.</returns>
    /// <exception cref="ArgumentException">The string is not of that form.</exception>
    /// <example>
    /// <code>
    /// builder.Services.AddLightQ("lightq://localhost", options => options with { ClientName = "billing" });
    /// </code>
    /// </example>
    public static IServiceCollection AddLightQ(this IServiceCollection services, string connectionString, Func<LightQClientOptions, LightQClientOptions>? configure = null)
    {
        ArgumentNullException.ThrowIfNull(services);
        LightQClientOptions options = LightQClientOptions.Parse(connectionString);
        options = configure?.Invoke(options) ?? options;
        return services.AddSingleton(provider => new LightQClient(
            options.LoggerFactory is null ? options with { LoggerFactory = provider.GetService<ILoggerFactory>() } : options));
    }
}
