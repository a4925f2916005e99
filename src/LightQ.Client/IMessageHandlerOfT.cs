namespace LightQ.Client;

/// <summary>
/// Handles values for a processor that a host runs. Made anew, in a scope of its own, for every message.
/// </summary>
/// <typeparam name="T">What was published.</typeparam>
/// <remarks>Registered with <c>services.AddLightQProcessor&lt;THandler, T&gt;(topic, group, serializer)</c>.</remarks>
public interface IMessageHandler<in T>
{
    /// <summary>
    /// Handles a message. What it throws is reported, and the message comes again: see
    /// <see cref="LightQProcessor.ProcessMessageAsync"/>. A body that is no such value does not get here: it fails with
    /// an <see cref="UndecodableMessageException"/>.
    /// </summary>
    /// <param name="value">What the message's body stands for.</param>
    /// <param name="args">The message, and the token that says when to give up.</param>
    Task HandleAsync(T value, ProcessMessageEventArgs args);
}
