using System.Diagnostics.CodeAnalysis;
using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.Client.Hosting;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Options;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Registers LightQ with a service collection.</summary>
public static class LightQServiceCollectionExtensions
{
    /// <summary>
    /// Registers one <see cref="LightQClient"/> for the whole application, which logs to the application's loggers and
    /// is disposed with the application.
    /// </summary>
    /// <param name="services">Where to register.</param>
    /// <param name="connectionString">
    /// <c>lightq://[user[:password]@]host[:data-port][,host[:data-port]…][?control=PORT[,PORT…]&amp;tls=true&amp;ca=FILE&amp;cert=FILE&amp;key=FILE]</c>.
    /// </param>
    /// <param name="configure">Changes the options further; null for no change.</param>
    /// <returns><paramref name="services"/>.</returns>
    /// <exception cref="ArgumentException">The string is not of that form.</exception>
    /// <example>
    /// <code>
    /// builder.Services.AddLightQ("lightq://localhost", options => options with { ClientName = "billing" });
    /// </code>
    /// </example>
    public static IServiceCollection AddLightQ(
        this IServiceCollection services,
        string connectionString,
        Func<LightQClientOptions, LightQClientOptions>? configure = null
    )
    {
        LightQClientOptions options = LightQClientOptions.Parse(connectionString);
        return AddClient(services, null, _ => options, configure);
    }

    /// <summary>The same, with options from the application's configuration.</summary>
    /// <param name="services">Where to register.</param>
    /// <param name="section">
    /// A connection string; or keys named like the properties of <see cref="LightQClientOptions"/>, and
    /// <c>ConnectionString</c>, which the others override. A key without a value counts as missing. It is read when the
    /// client is made, so what is added to the configuration later counts, too.
    /// </param>
    /// <param name="configure">Changes the options further; null for no change.</param>
    /// <returns><paramref name="services"/>.</returns>
    /// <remarks>
    /// A host does not start, and no client is made, when the section is empty, names two brokers, has an unknown key
    /// or a value that is not allowed: an <c>OptionsValidationException</c> names key, value and what is allowed.
    /// </remarks>
    /// <example>
    /// <code>
    /// builder.Services.AddLightQ(builder.Configuration.GetSection("LightQ"));
    /// </code>
    /// </example>
    public static IServiceCollection AddLightQ(
        this IServiceCollection services,
        IConfigurationSection section,
        Func<LightQClientOptions, LightQClientOptions>? configure = null
    )
    {
        ArgumentNullException.ThrowIfNull(section);
        return AddClient(services, null, isNamed => ClientSection.Read(section, isNamed), configure);
    }

    /// <summary>
    /// Registers a client with a key, for an application that uses several brokers. The application gets it with
    /// <c>[FromKeyedServices("audit")] LightQClient</c>.
    /// </summary>
    /// <param name="services">Where to register.</param>
    /// <param name="serviceKey">The key.</param>
    /// <param name="connectionString">
    /// <c>lightq://[user[:password]@]host[:data-port][,host[:data-port]…][?control=PORT[,PORT…]&amp;tls=true&amp;ca=FILE&amp;cert=FILE&amp;key=FILE]</c>.
    /// </param>
    /// <param name="configure">Changes the options further; null for no change.</param>
    /// <returns><paramref name="services"/>.</returns>
    /// <exception cref="ArgumentException">The string is not of that form.</exception>
    public static IServiceCollection AddKeyedLightQ(
        this IServiceCollection services,
        object serviceKey,
        string connectionString,
        Func<LightQClientOptions, LightQClientOptions>? configure = null
    )
    {
        ArgumentNullException.ThrowIfNull(serviceKey);
        LightQClientOptions options = LightQClientOptions.Parse(connectionString);
        return AddClient(services, serviceKey, _ => options, configure);
    }

    /// <summary>The same, with options from the application's configuration.</summary>
    /// <param name="services">Where to register.</param>
    /// <param name="serviceKey">The key.</param>
    /// <param name="section">
    /// As for
    /// <see cref="AddLightQ(IServiceCollection, IConfigurationSection, Func{LightQClientOptions, LightQClientOptions}?)"/>.
    /// </param>
    /// <param name="configure">Changes the options further; null for no change.</param>
    /// <returns><paramref name="services"/>.</returns>
    public static IServiceCollection AddKeyedLightQ(
        this IServiceCollection services,
        object serviceKey,
        IConfigurationSection section,
        Func<LightQClientOptions, LightQClientOptions>? configure = null
    )
    {
        ArgumentNullException.ThrowIfNull(serviceKey);
        ArgumentNullException.ThrowIfNull(section);
        return AddClient(services, serviceKey, isNamed => ClientSection.Read(section, isNamed), configure);
    }

    /// <summary>
    /// Registers a processor that starts and stops with the host, and its handler, which is created for every message.
    /// The processor always settles explicitly (<see cref="LightQ.Client.SettleMode.Explicit"/>): messages that were
    /// not settled when this program dies are redelivered. The host does not start if the handler cannot be made, the
    /// broker rejects the subscription or cannot be reached. If the handler cannot be made later, the processor pauses,
    /// as with <see cref="ProcessMessageEventArgs.PauseAsync"/>. With <see cref="LightQClientOptions.WaitForBroker"/>
    /// the host starts without the broker, and the processor starts when the broker runs.
    /// </summary>
    /// <typeparam name="THandler">The handler; scoped, unless it is registered already.</typeparam>
    /// <param name="services">
    /// Where to register. Needs a client:
    /// <see cref="AddLightQ(IServiceCollection, string, Func{LightQClientOptions, LightQClientOptions}?)"/>.
    /// </param>
    /// <param name="topic">The name of a durable topic.</param>
    /// <param name="group">The group to join.</param>
    /// <param name="options">How the processor works; null for the defaults.</param>
    /// <param name="configure">
    /// Changes the processor before it starts, for example to set <see cref="LightQProcessor.ProcessErrorAsync"/>;
    /// without that, failures are logged.
    /// </param>
    /// <param name="clientKey">The key of the client; null (the default) for the one without.</param>
    /// <returns><paramref name="services"/>.</returns>
    public static IServiceCollection AddLightQProcessor<
        [DynamicallyAccessedMembers(DynamicallyAccessedMemberTypes.PublicConstructors)] THandler
    >(
        this IServiceCollection services,
        string topic,
        string group,
        ProcessorOptions? options = null,
        Action<IServiceProvider, LightQProcessor>? configure = null,
        object? clientKey = null
    )
        where THandler : class, IMessageHandler
    {
        ArgumentNullException.ThrowIfNull(services);
        Func<IServiceProvider, IMessageHandler> make = static scope => scope.GetRequiredService<THandler>();
        return AddProcessor<THandler>(
            services,
            new ProcessorRegistration(topic, group, options, typeof(THandler), make, configure, clientKey)
        );
    }

    /// <summary>The same, for a handler of values.</summary>
    /// <typeparam name="THandler">The handler; scoped, unless it is registered already.</typeparam>
    /// <typeparam name="T">The type of the published values.</typeparam>
    /// <param name="services">
    /// Where to register. Needs a client:
    /// <see cref="AddLightQ(IServiceCollection, string, Func{LightQClientOptions, LightQClientOptions}?)"/>.
    /// </param>
    /// <param name="topic">The name of a durable topic.</param>
    /// <param name="group">The group to join.</param>
    /// <param name="serializer">
    /// Reads the bodies; null (the default) for the <see cref="IMessageSerializer{T}"/> that is registered, and without
    /// one for <see cref="MessageSerializer.Default{T}"/>.
    /// </param>
    /// <param name="options">How the processor works; null for the defaults.</param>
    /// <param name="configure">
    /// Changes the processor before it starts, for example to set <see cref="LightQProcessor.ProcessErrorAsync"/>;
    /// without that, failures are logged.
    /// </param>
    /// <param name="clientKey">The key of the client; null (the default) for the one without.</param>
    /// <returns><paramref name="services"/>.</returns>
    public static IServiceCollection AddLightQProcessor<
        [DynamicallyAccessedMembers(DynamicallyAccessedMemberTypes.PublicConstructors)] THandler,
        T
    >(
        this IServiceCollection services,
        string topic,
        string group,
        IMessageSerializer<T>? serializer = null,
        ProcessorOptions? options = null,
        Action<IServiceProvider, LightQProcessor>? configure = null,
        object? clientKey = null
    )
        where THandler : class, IMessageHandler<T>
    {
        ArgumentNullException.ThrowIfNull(services);
        Func<IServiceProvider, IMessageHandler> make = scope => new ValueHandler<T>(
            scope.GetRequiredService<THandler>(),
            serializer ?? RegisteredSerializer.Of<T>(scope, $"processor of {topic}")
        );
        return AddProcessor<THandler>(
            services,
            new ProcessorRegistration(topic, group, options, typeof(THandler), make, configure, clientKey)
        );
    }

    /// <summary>
    /// Has a processor take options from a configuration section: keys named like those of
    /// <see cref="ProcessorOptions"/>, as <c>"MaxConcurrency": 8</c> or <c>"MaxLockRenewal": "00:10:00"</c>. They
    /// override what <c>AddLightQProcessor</c> says. The section is read when the host makes the processor, with all
    /// that configures the host by then. A key that is unknown or has a wrong value fails the start of the host, with
    /// its name (<see cref="OptionsValidationException"/>), and so does a processor that is not registered.
    /// </summary>
    /// <param name="services">Where the processor is registered, before or later.</param>
    /// <param name="topic">The processor's topic.</param>
    /// <param name="group">Its group.</param>
    /// <param name="section">
    /// The section, which need not be there: <c>builder.Configuration.GetSection("Orders:Processor")</c>.
    /// </param>
    /// <param name="clientKey">The key of its client; null (the default) for the one without.</param>
    /// <returns><paramref name="services"/>.</returns>
    public static IServiceCollection ConfigureLightQProcessor(
        this IServiceCollection services,
        string topic,
        string group,
        IConfigurationSection section,
        object? clientKey = null
    )
    {
        ArgumentNullException.ThrowIfNull(services);
        ArgumentNullException.ThrowIfNull(topic);
        ArgumentNullException.ThrowIfNull(group);
        ArgumentNullException.ThrowIfNull(section);
        return services.AddSingleton(new ProcessorChange(topic, group, section, clientKey));
    }

    /// <summary>
    /// Registers the producer of a topic for the whole application, as <see cref="IProducer{T}"/>. It is opened before
    /// the host's services start, closed after all have stopped, and part of <see cref="LightQHealthCheck"/>. The host
    /// fails to start if the broker rejects the producer or cannot be reached. With
    /// <see cref="LightQClientOptions.WaitForBroker"/> the host starts without its broker, and publishes wait until the
    /// producer is open.
    /// </summary>
    /// <typeparam name="T">The type of the published values.</typeparam>
    /// <param name="services">
    /// Where to register. Needs a client:
    /// <see cref="AddLightQ(IServiceCollection, string, Func{LightQClientOptions, LightQClientOptions}?)"/>.
    /// </param>
    /// <param name="topic">The topic's name; <c>orders/3</c> names one of its partitions.</param>
    /// <param name="serializer">
    /// Writes the bodies; null for the <see cref="IMessageSerializer{T}"/> that is registered, and without one for
    /// <see cref="MessageSerializer.Default{T}"/>.
    /// </param>
    /// <param name="options">How it sends; null for the defaults.</param>
    /// <param name="whenFenced">
    /// What to do when another producer of the same <see cref="ProducerOptions.Name"/> has taken over. Default: fail.
    /// </param>
    /// <param name="clientKey">The key of the client; null (the default) for the one without.</param>
    /// <returns><paramref name="services"/>.</returns>
    /// <exception cref="InvalidOperationException">
    /// A producer of this type of value is registered already: use <see cref="AddKeyedLightQProducer"/>.
    /// </exception>
    /// <example>
    /// <code>
    /// builder.Services.AddLightQProducer("orders", new JsonMessageSerializer&lt;Order&gt;(ShopJson.Default.Order));
    ///
    /// app.MapPost("/orders", async (Order order, IProducer&lt;Order&gt; orders, CancellationToken aborted) =&gt;
    ///     await orders.PublishAsync(order, key: order.Id, cancellationToken: aborted));
    /// </code>
    /// </example>
    public static IServiceCollection AddLightQProducer<T>(
        this IServiceCollection services,
        string topic,
        IMessageSerializer<T>? serializer = null,
        ProducerOptions? options = null,
        FencedAction whenFenced = FencedAction.Fail,
        object? clientKey = null
    )
    {
        ProducerRegistration<T> registration = ProducerRegistration<T>.Of(
            services,
            null,
            topic,
            serializer,
            options,
            whenFenced,
            clientKey
        );
        return AddStart(services, clientKey)
            .AddSingleton<IProducer<T>>(registration.Make)
            .AddSingleton<IHostedProducer>(provider => (HostedProducer<T>)provider.GetRequiredService<IProducer<T>>());
    }

    /// <summary>
    /// The same with a key: for several producers of the same type of value. The application gets one with
    /// <c>[FromKeyedServices("returns")] IProducer&lt;Order&gt;</c>.
    /// </summary>
    /// <typeparam name="T">The type of the published values.</typeparam>
    /// <param name="services">
    /// Where to register. Needs a client:
    /// <see cref="AddLightQ(IServiceCollection, string, Func{LightQClientOptions, LightQClientOptions}?)"/>.
    /// </param>
    /// <param name="serviceKey">The key.</param>
    /// <param name="topic">The topic's name; <c>orders/3</c> names one of its partitions.</param>
    /// <param name="serializer">
    /// Writes the bodies; null for the <see cref="IMessageSerializer{T}"/> that is registered, and without one for
    /// <see cref="MessageSerializer.Default{T}"/>.
    /// </param>
    /// <param name="options">How it sends; null for the defaults.</param>
    /// <param name="whenFenced">
    /// What to do when another producer of the same <see cref="ProducerOptions.Name"/> has taken over. Default: fail.
    /// </param>
    /// <param name="clientKey">The key of the client; null (the default) for the one without.</param>
    /// <returns><paramref name="services"/>.</returns>
    /// <exception cref="InvalidOperationException">
    /// A producer of this type of value with that key is registered already.
    /// </exception>
    public static IServiceCollection AddKeyedLightQProducer<T>(
        this IServiceCollection services,
        object serviceKey,
        string topic,
        IMessageSerializer<T>? serializer = null,
        ProducerOptions? options = null,
        FencedAction whenFenced = FencedAction.Fail,
        object? clientKey = null
    )
    {
        ArgumentNullException.ThrowIfNull(serviceKey);
        ProducerRegistration<T> registration = ProducerRegistration<T>.Of(
            services,
            serviceKey,
            topic,
            serializer,
            options,
            whenFenced,
            clientKey
        );
        return AddStart(services, clientKey)
            .AddKeyedSingleton<IProducer<T>>(serviceKey, (provider, _) => registration.Make(provider))
            .AddSingleton<IHostedProducer>(provider =>
                (HostedProducer<T>)provider.GetRequiredKeyedService<IProducer<T>>(serviceKey)
            );
    }

    /// <summary>
    /// Prepares a topic before the host's services start: creates it, or changes the settings that may be changed. The
    /// host fails to start if a setting differs that cannot be changed, the client has no right to manage the
    /// topic, or the broker cannot be reached. With <see cref="LightQClientOptions.WaitForBroker"/> the host starts
    /// without its broker. The log and <see cref="LightQHealthCheck"/> then report what the host waits for. When the
    /// broker runs, the host prepares the topic and then starts its processors; a failure at that point stops the host.
    /// </summary>
    /// <param name="services">
    /// Where to register. Needs a client:
    /// <see cref="AddLightQ(IServiceCollection, string, Func{LightQClientOptions, LightQClientOptions}?)"/>.
    /// </param>
    /// <param name="topic">
    /// The topic as it should be; see <see cref="TopicsClient.EnsureAsync(TopicSpec, CancellationToken)"/>.
    /// </param>
    /// <param name="clientKey">The key of the client; null (the default) for the one without.</param>
    /// <param name="mode">
    /// What to do with a topic that has other settings. Default: change them, which the log says with the values before
    /// and after. Where several services register a topic, one changes it, and the others only create or check it.
    /// </param>
    /// <returns><paramref name="services"/>.</returns>
    public static IServiceCollection AddLightQTopic(
        this IServiceCollection services,
        TopicSpec topic,
        object? clientKey = null,
        EnsureMode mode = EnsureMode.Change
    )
    {
        ArgumentNullException.ThrowIfNull(topic);
        return AddStart(services, clientKey).AddSingleton(new TopicRegistration(topic, clientKey, mode));
    }

    /// <summary>
    /// Changes the options of a client that is registered here, before or later: with other services of the
    /// application, or from a test. A key that no client has fails the start of the host.
    /// </summary>
    /// <param name="services">Where the client is registered.</param>
    /// <param name="configure">
    /// Gets the services and the options, and returns what they are to be. Called when the client is made, after the
    /// client's own registration, and in the order of these calls.
    /// </param>
    /// <param name="clientKey">The key of the client; null (the default) for the one without.</param>
    /// <returns><paramref name="services"/>.</returns>
    /// <example>
    /// <code>
    /// services.ConfigureLightQ((provider, options) =&gt; options with { ClientName = provider.GetRequiredService&lt;Shop&gt;().Name });
    /// </code>
    /// </example>
    public static IServiceCollection ConfigureLightQ(
        this IServiceCollection services,
        Func<IServiceProvider, LightQClientOptions, LightQClientOptions> configure,
        object? clientKey = null
    )
    {
        ArgumentNullException.ThrowIfNull(services);
        ArgumentNullException.ThrowIfNull(configure);
        return services.AddSingleton(new ClientChange(clientKey, configure));
    }

    internal static IServiceCollection AddClient(
        IServiceCollection services,
        object? key,
        Func<bool, LightQClientOptions> read,
        Func<LightQClientOptions, LightQClientOptions>? configure
    )
    {
        ArgumentNullException.ThrowIfNull(services);
        var registration = new ClientRegistration(key, configure is null ? read : isNamed => configure(read(isNamed)));
        // Options have names, which are texts.
        if (
            services.Any(s =>
                s.ImplementationInstance is ClientRegistration other
                && other.Name == registration.Name
                && !Equals(other.Key, key)
            )
        )
        {
            throw new ArgumentException(
                $"Another client has a key with the text '{registration.Name}'; keys need texts of their own.",
                nameof(key)
            );
        }
        services.AddOptions<LightQClientOptions>(registration.Name).ValidateOnStart();
        services.TryAddSingleton<ChangeCheck>();
        services.TryAddSingleton<IOptionsFactory<LightQClientOptions>, ClientOptionsFactory>();
        return services
            .AddSingleton(registration)
            .Add(
                key,
                provider => new LightQClient(
                    provider.GetRequiredService<IOptionsMonitor<LightQClientOptions>>().Get(registration.Name)
                )
            );
    }

    /// <summary>Once for each client, whatever it is for.</summary>
    private static IServiceCollection AddStart(IServiceCollection services, object? clientKey)
    {
        ArgumentNullException.ThrowIfNull(services);
        if (services.Any(s => s.ServiceType == typeof(StartService) && Equals(s.ServiceKey, clientKey)))
            return services;
        return services
            .Add(
                clientKey,
                provider => new StartService(
                    provider.Of<LightQClient>(clientKey),
                    provider.GetServices<TopicRegistration>().Where(topic => Equals(topic.ClientKey, clientKey)),
                    provider.GetServices<IHostedProducer>().Where(producer => Equals(producer.ClientKey, clientKey))
                )
            )
            .Add(
                clientKey,
                provider => new LightQHealthCheck(
                    provider.Of<LightQClient>(clientKey),
                    provider.Of<StartService>(clientKey)
                )
            )
            .AddSingleton<IHostedService>(provider => provider.Of<StartService>(clientKey));
    }

    // Not AddHostedService, which takes a type once: an application may have many processors.
    private static IServiceCollection AddProcessor<
        [DynamicallyAccessedMembers(DynamicallyAccessedMemberTypes.PublicConstructors)] THandler
    >(IServiceCollection services, ProcessorRegistration registration)
        where THandler : class
    {
        Type handler = typeof(THandler);
        Type? open = handler.IsGenericType ? handler.GetGenericTypeDefinition() : null;
        // Registered already may also be the open type, for whatever it is closed with.
        if (open is null || !services.Any(s => s.ServiceType == open && s.ServiceKey is null))
            services.TryAddScoped<THandler>();
        AddressArgument.Parse(registration.Topic, null);
        return AddStart(services, registration.ClientKey)
            .AddSingleton(registration)
            .AddSingleton<IHostedService>(provider => new ProcessorService(provider, registration));
    }
}
