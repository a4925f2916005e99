using LightQ.Client;
using LightQ.Client.Hosting;
using Microsoft.AspNetCore.Hosting;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;

namespace LightQ.Testing;

/// <summary>Has an application under test use the broker and the clock of its test.</summary>
public static class LightQTestBrokerExtensions
{
    /// <summary>
    /// Has a web application use a test's broker, whatever its settings name, and the test's clock: its LightQ clients,
    /// and its services that ask for a <see cref="TimeProvider"/>. With several brokers these get the clock of the one
    /// without a key, or else of the first.
    /// </summary>
    /// <param name="web">The builder that <c>WithWebHostBuilder</c> of a <c>WebApplicationFactory</c> gives.</param>
    /// <param name="broker">The test's broker.</param>
    /// <param name="clientKey">
    /// The key of the client that uses the broker; null (the default) for all clients that have no broker of their own
    /// by another call.
    /// </param>
    /// <param name="configure">
    /// Changes the options of the clients, for example how they log in; null for no change. User, password and token
    /// that the application has are those of its own broker, and are not used.
    /// </param>
    /// <returns><paramref name="web"/>.</returns>
    /// <example>
    /// <code>
    /// await using LightQTestBroker broker = await LightQTestBroker.StartAsync();
    /// await using var shop = new WebApplicationFactory&lt;Program&gt;().WithWebHostBuilder(web =&gt; web.UseLightQ(broker));
    /// </code>
    /// </example>
    public static IWebHostBuilder UseLightQ(
        this IWebHostBuilder web,
        LightQTestBroker broker,
        object? clientKey = null,
        Func<LightQClientOptions, LightQClientOptions>? configure = null
    )
    {
        ArgumentNullException.ThrowIfNull(web);
        return web.ConfigureServices(services => services.UseLightQ(broker, clientKey, configure));
    }

    /// <summary>The same for the services of any host.</summary>
    /// <param name="services">The services, with those of the application.</param>
    /// <param name="broker">The test's broker.</param>
    /// <param name="clientKey">
    /// The key of the client that uses the broker; null (the default) for all clients that have no broker of their own
    /// by another call.
    /// </param>
    /// <param name="configure">Changes the options of the clients; null for no change.</param>
    /// <returns><paramref name="services"/>.</returns>
    public static IServiceCollection UseLightQ(
        this IServiceCollection services,
        LightQTestBroker broker,
        object? clientKey = null,
        Func<LightQClientOptions, LightQClientOptions>? configure = null
    )
    {
        ArgumentNullException.ThrowIfNull(services);
        ArgumentNullException.ThrowIfNull(broker);
        // One clock for the application: that of the broker for all clients, or else of the first.
        if (clientKey is null || services.All(service => service.ServiceType != typeof(ClientRedirect)))
            services.Replace(ServiceDescriptor.Singleton<TimeProvider>(broker.Time));
        return services.AddSingleton(
            new ClientRedirect(clientKey, options => configure?.Invoke(broker.Lead(options)) ?? broker.Lead(options))
        );
    }
}
