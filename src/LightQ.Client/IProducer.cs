namespace LightQ.Client;

/// <summary>Publishes values to one topic for a whole application. Thread-safe.</summary>
/// <typeparam name="T">The type of the published values.</typeparam>
/// <remarks>
/// Registered with <c>services.AddLightQProducer&lt;T&gt;(topic, serializer)</c>, which opens it when the host starts
/// and closes it when the host has stopped. Order, windows and errors are those of <see cref="Producer"/>.
/// </remarks>
/// <example>
/// <code>
/// app.MapPost("/orders", async (Order order, IProducer&lt;Order&gt; orders, CancellationToken aborted) =&gt;
///     await orders.PublishAsync(order, key: order.Id, cancellationToken: aborted));
/// </code>
/// </example>
public interface IProducer<T>
{
    /// <summary>The topic's name, as it was registered.</summary>
    string Topic { get; }

    /// <summary>
    /// Publishes a value and waits for its ack. While the host still waits for its broker, it first waits until the
    /// producer is open.
    /// </summary>
    /// <param name="value">The value; serialized before the method returns.</param>
    /// <param name="key">The key, or default for none.</param>
    /// <param name="headers">The headers, or null; as for <see cref="Producer{T}.PublishAsync"/>.</param>
    /// <param name="options">When the message is delivered and how long it is of use.</param>
    /// <param name="cancellationToken">Ends the wait. The message may be stored nevertheless.</param>
    /// <returns>As for <see cref="Producer{T}.PublishAsync"/>.</returns>
    /// <exception cref="LightQException">
    /// The message was rejected, or its outcome is unknown. <see cref="LightQ.Client.ErrorCode.Closed"/>: the host is
    /// stopping.
    /// </exception>
    ValueTask<PublishAck> PublishAsync(
        T value,
        MessageKey key = default,
        MessageHeaders? headers = null,
        PublishOptions options = default,
        CancellationToken cancellationToken = default
    );

    /// <summary>
    /// The producer underneath, once it is open: to publish batches, or without waiting for acks. The host disposes it.
    /// </summary>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <exception cref="LightQException">The producer will not be opened.</exception>
    ValueTask<Producer<T>> GetAsync(CancellationToken cancellationToken = default);
}
