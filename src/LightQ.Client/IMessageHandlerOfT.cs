namespace LightQ.Client;

/// <summary>
/// Handles values for a processor that a host runs. A handler is created for every message, in its own scope.
/// </summary>
/// <typeparam name="T">The type of the published values.</typeparam>
/// <remarks>Registered with <c>services.AddLightQProcessor&lt;THandler, T&gt;(topic, group, serializer)</c>.</remarks>
public interface IMessageHandler<in T>
{
    /// <summary>
    /// Handles a message. An exception is reported, and the message is redelivered: see
    /// <see cref="LightQProcessor.ProcessMessageAsync"/>. A body that cannot be read as a value does not reach the
    /// handler: it fails with an <see cref="UndecodableMessageException"/>.
    /// </summary>
    /// <param name="value">The value of the message's body.</param>
    /// <param name="args">The message, and the token that is cancelled when the handler must stop.</param>
    Task HandleAsync(T value, ProcessMessageEventArgs args);
}
