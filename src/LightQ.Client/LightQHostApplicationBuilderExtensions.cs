using LightQ.Client;
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
    /// The name under <c>ConnectionStrings</c>, as <c>GetConnectionString</c> takes it. It is read at once, so an error
    /// in it is found before the application starts.
    /// </param>
    /// <param name="configure">Changes the options further; null for no change.</param>
    /// <returns><paramref name="builder"/>.</returns>
    /// <exception cref="InvalidOperationException">The configuration has no connection string of that name.</exception>
    /// <exception cref="ArgumentException">The connection string is not that of a broker.</exception>
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
        builder.Services.AddLightQ(Find(builder.Configuration, connectionName), configure);
        return builder;
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
    /// <exception cref="InvalidOperationException">The configuration has no connection string of that name.</exception>
    /// <exception cref="ArgumentException">The connection string is not that of a broker.</exception>
    public static TBuilder AddKeyedLightQClient<TBuilder>(
        this TBuilder builder,
        string name,
        Func<LightQClientOptions, LightQClientOptions>? configure = null
    )
        where TBuilder : IHostApplicationBuilder
    {
        ArgumentNullException.ThrowIfNull(builder);
        builder.Services.AddKeyedLightQ(name, Find(builder.Configuration, name), configure);
        return builder;
    }

    private static string Find(IConfiguration configuration, string name)
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        return configuration.GetConnectionString(name) is { Length: > 0 } found
            ? found
            : throw new InvalidOperationException(
                $"The configuration has no ConnectionStrings:{name}, for example \"lightq://localhost\"."
            );
    }
}
