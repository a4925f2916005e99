namespace LightQ.Client;

/// <summary>
/// Handles messages for a processor that a host runs. Made anew, in a scope of its own, for every message.
/// </summary>
/// <remarks>Registered with <c>services.AddLightQProcessor&lt;THandler&gt;(topic, group)</c>.</remarks>
public interface IMessageHandler
{
    /// <summary>
    /// Handles a message. What it throws is reported, and the message comes again: see
    /// <see cref="LightQProcessor.ProcessMessageAsync"/>.
    /// </summary>
    /// <param name="args">The message, and the token that says when to give up.</param>
    Task HandleAsync(ProcessMessageEventArgs args);
}
