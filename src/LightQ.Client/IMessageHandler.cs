namespace LightQ.Client;

/// <summary>
/// Handles messages for a processor that a host runs. A handler is created for every message, in its own scope.
/// </summary>
/// <remarks>Registered with <c>services.AddLightQProcessor&lt;THandler&gt;(topic, group)</c>.</remarks>
public interface IMessageHandler
{
    /// <summary>
    /// Handles a message. An exception is reported, and the message is redelivered: see
    /// <see cref="LightQProcessor.ProcessMessageAsync"/>.
    /// </summary>
    /// <param name="args">The message, and the token that is cancelled when the handler must stop.</param>
    Task HandleAsync(ProcessMessageEventArgs args);
}
