using LightQ.Client;
using LightQ.Client.Hosting;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;

namespace Microsoft.Extensions.Hosting;

/// <summary>Registers LightQ with an application whose configuration names its brokers.</summary>
public static class LightQHostApplicationBuilderExtensions
{
    /// <summary>
    /// Registers one <see cref="LightQClient"/> for the whole application, with a connection string from its
    /// configuration.
    /// </summary>
    /// <typeparam name="TBuilder">The builder.</typeparam>
    /// <param name="builder">The application's builder.</param>
    /// <param name="connectionName">
    /// The name under <c>ConnectionStrings</c>, as <c>GetConnectionString</c> takes it. It is read when the client is
    /// made; a host does not start without one, or with one that is not that of a broker.
    /// </param>
    /// <param name="configure">Changes the options further; null for no change.</param>
    /// <returns><paramref name="builder"/>.</returns>
    /// <example>
    /// <code>
    /// builder.AddLightQClient("queue");                       // ConnectionStrings__queue=lightq://localhost
    /// </code>
    /// </example>
    public static TBuilder AddLightQClient<TBuilder>(
        this TBuilder builder,
        string connectionName,
        Func<LightQClientOptions, LightQClientOptions>? configure = null
    )
        where TBuilder : IHostApplicationBuilder
    {
        ArgumentNullException.ThrowIfNull(builder);
        return Add(builder, connectionName, null, configure);
    }

    /// <summary>
    /// Registers a client with a key, for an application that uses several brokers. Connection string and key have the
    /// same name.
    /// </summary>
    /// <typeparam name="TBuilder">The builder.</typeparam>
    /// <param name="builder">The application's builder.</param>
    /// <param name="name">
    /// The name under <c>ConnectionStrings</c>, and the key of the client: <c>[FromKeyedServices("audit")]
    /// LightQClient</c>.
    /// </param>
    /// <param name="configure">Changes the options further; null for no change.</param>
    /// <returns><paramref name="builder"/>.</returns>
    public static TBuilder AddKeyedLightQClient<TBuilder>(
        this TBuilder builder,
        string name,
        Func<LightQClientOptions, LightQClientOptions>? configure = null
    )
        where TBuilder : IHostApplicationBuilder
    {
        ArgumentNullException.ThrowIfNull(builder);
        return Add(builder, name, name, configure);
    }

    private static TBuilder Add<TBuilder>(
        TBuilder builder,
        string name,
        object? key,
        Func<LightQClientOptions, LightQClientOptions>? configure
    )
        where TBuilder : IHostApplicationBuilder
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        // Not the whole builder: the application keeps what it registers.
        IConfigurationSection section = builder.Configuration.GetSection("ConnectionStrings").GetSection(name);
        LightQServiceCollectionExtensions.AddClient(
            builder.Services,
            key,
            isNamed => ClientSection.ReadConnectionString(section, isNamed),
            configure
        );
        return builder;
    }
}
