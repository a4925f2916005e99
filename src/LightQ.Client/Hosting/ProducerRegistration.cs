using Microsoft.Extensions.DependencyInjection;

namespace LightQ.Client.Hosting;

/// <summary>A producer that a host is to open.</summary>
/// <typeparam name="T">What it publishes.</typeparam>
/// <param name="Topic">The topic.</param>
/// <param name="Serializer">Makes the bodies; null for the one that is registered, or the default.</param>
/// <param name="Options">How it sends.</param>
/// <param name="WhenFenced">What to do when it is fenced.</param>
/// <param name="ClientKey">The key of the client; null for the one without.</param>
internal sealed record ProducerRegistration<T>(
    string Topic,
    IMessageSerializer<T>? Serializer,
    ProducerOptions? Options,
    FencedAction WhenFenced,
    object? ClientKey
)
{
    /// <exception cref="InvalidOperationException">There is one already.</exception>
    public static ProducerRegistration<T> Of(
        IServiceCollection services,
        object? key,
        string topic,
        IMessageSerializer<T>? serializer,
        ProducerOptions? options,
        FencedAction whenFenced,
        object? clientKey
    )
    {
        ArgumentNullException.ThrowIfNull(services);
        AddressArgument.Parse(topic, options?.Partition);
        if (!Enum.IsDefined(whenFenced))
            throw new ArgumentOutOfRangeException(nameof(whenFenced), whenFenced, "Fail or TakeOver.");
        if (whenFenced == FencedAction.TakeOver && options?.Name is null)
        {
            throw new ArgumentException(
                "A producer without a name is never fenced, so it takes nothing over: give its options a name.",
                nameof(whenFenced)
            );
        }

        if (services.Any(s => s.ServiceType == typeof(IProducer<T>) && Equals(s.ServiceKey, key)))
        {
            throw new InvalidOperationException(
                key is null
                    ? $"There is a producer of {typeof(T).Name} already; give each a key with AddKeyedLightQProducer."
                    : $"There is a producer of {typeof(T).Name} with the key '{key}' already."
            );
        }
        return new ProducerRegistration<T>(topic, serializer, options, whenFenced, clientKey);
    }

    /// <summary>Makes it; opens nothing yet.</summary>
    public HostedProducer<T> Make(IServiceProvider services) =>
        new(
            services.Of<LightQClient>(ClientKey),
            Topic,
            Serializer ?? RegisteredSerializer.Of<T>(services, $"producer of {Topic}"),
            Options,
            WhenFenced
        )
        {
            ClientKey = ClientKey,
        };
}
