namespace LightQ.Client;

/// <summary>A message that a <see cref="LightQProcessor"/> hands to its handler.</summary>
public sealed class ProcessMessageEventArgs : EventArgs
{
    /// <summary>Makes the event's data.</summary>
    /// <param name="message">The message; one that may be kept.</param>
    /// <param name="topic">The topic.</param>
    /// <param name="group">The group.</param>
    /// <param name="cancellationToken">Cancelled when the handler is to give up.</param>
    public ProcessMessageEventArgs(Message message, string topic, string group, CancellationToken cancellationToken)
    {
        Message = message;
        Topic = topic;
        Group = group;
        CancellationToken = cancellationToken;
    }

    /// <summary>
    /// The message. It is a copy of its own and may be kept. Without <see cref="ProcessorOptions.AutoComplete"/> the
    /// handler settles it.
    /// </summary>
    public Message Message { get; }

    /// <summary>The topic.</summary>
    public string Topic { get; }

    /// <summary>The group.</summary>
    public string Group { get; }

    /// <summary>
    /// Cancelled when the message's lock is lost (its time was over or the connection ended, so that another member may
    /// have it by now), and when the processor stops and the handler has had its time.
    /// </summary>
    public CancellationToken CancellationToken { get; }

    /// <summary>The value that the message's body stands for.</summary>
    /// <typeparam name="T">What was published.</typeparam>
    /// <param name="serializer">Reads the body.</param>
    /// <exception cref="UndecodableMessageException">
    /// It stands for no such value. Left to the processor, that is what every failure of a handler is: told to
    /// <see cref="LightQProcessor.ProcessErrorAsync"/>, and the message is abandoned, up to the topic's most
    /// deliveries.
    /// </exception>
    public T GetValue<T>(IMessageSerializer<T> serializer) => Message.As(serializer, Topic).Value;
}
