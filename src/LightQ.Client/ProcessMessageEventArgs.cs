namespace LightQ.Client;

/// <summary>A message that a <see cref="LightQProcessor"/> hands to its handler.</summary>
public sealed class ProcessMessageEventArgs : EventArgs
{
    /// <summary>Creates the event's data.</summary>
    /// <param name="message">The message; it may be kept.</param>
    /// <param name="topic">The topic.</param>
    /// <param name="group">The group.</param>
    /// <param name="cancellationToken">Cancelled when the handler must stop.</param>
    public ProcessMessageEventArgs(Message message, string topic, string group, CancellationToken cancellationToken)
    {
        Message = message;
        Topic = topic;
        Group = group;
        CancellationToken = cancellationToken;
    }

    /// <summary>
    /// The message. It is a copy and may be kept. Without <see cref="ProcessorOptions.AutoComplete"/> the handler
    /// settles it.
    /// </summary>
    public Message Message { get; }

    /// <summary>The topic.</summary>
    public string Topic { get; }

    /// <summary>The group.</summary>
    public string Group { get; }

    /// <summary>
    /// Cancelled when the message's lock is lost: it expired or the connection ended, so another member may have the
    /// message by now. Also cancelled when the processor stops and the handler's time is over.
    /// </summary>
    public CancellationToken CancellationToken { get; }

    /// <summary>The value of the message's body.</summary>
    /// <typeparam name="T">The type of the published value.</typeparam>
    /// <param name="serializer">Reads the body.</param>
    /// <exception cref="UndecodableMessageException">
    /// The body cannot be read as a value. If the handler does not catch the exception, the processor treats it as any
    /// failure of a handler: it reports it to <see cref="LightQProcessor.ProcessErrorAsync"/> and abandons the message,
    /// which is redelivered up to the topic's limit.
    /// </exception>
    public T GetValue<T>(IMessageSerializer<T> serializer) => Message.As(serializer, Topic).Value;
}
