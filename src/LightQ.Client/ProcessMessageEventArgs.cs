namespace LightQ.Client;

/// <summary>A message that a <see cref="LightQProcessor"/> hands to its handler.</summary>
public sealed class ProcessMessageEventArgs : EventArgs
{
    private readonly Action<ProcessorPausedException>? _onPause;

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

    internal ProcessMessageEventArgs(
        Message message,
        string topic,
        string group,
        Action<ProcessorPausedException> onPause,
        CancellationToken cancellationToken
    )
        : this(message, topic, group, cancellationToken) => _onPause = onPause;

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

    /// <summary>Whether <see cref="PauseAsync"/> was called, as tests of handlers ask.</summary>
    public bool IsPaused { get; private set; }

    /// <summary>
    /// Pauses the processor, because something that all messages need is down: a circuit breaker that the handler
    /// opens. Nothing is handed out until the time is over. This message, unless the handler settles it, and all that
    /// wait go back to the group, and these deliveries do not count. Then one message is tried. If its handler asks for
    /// a pause again, the next one is twice as long, up to 5 min; otherwise the processor goes on.
    /// </summary>
    /// <remarks>
    /// Returns at once. Handlers that run may end; the handler that called it should return, or throw. The log says
    /// when the pause begins and ends, and <see cref="LightQHealthCheck"/> and <see cref="LightQProcessor.Failure"/>
    /// report it meanwhile. Code without event data throws a <see cref="ProcessorPausedException"/>.
    /// </remarks>
    /// <param name="duration">
    /// How long, up to 24 h; null (the default) for 1 s, which doubles up to 30 s while trials fail.
    /// </param>
    /// <param name="reason">What is down; for the log and the health check.</param>
    public Task PauseAsync(TimeSpan? duration = null, string? reason = null)
    {
        var pause = new ProcessorPausedException(reason ?? "Its handler asked for a pause.", duration);
        IsPaused = true;
        _onPause?.Invoke(pause);
        return Task.CompletedTask;
    }

    /// <summary>The value of the message's body.</summary>
    /// <typeparam name="T">The type of the published value.</typeparam>
    /// <param name="serializer">Reads the body.</param>
    /// <exception cref="UndecodableMessageException">
    /// The body cannot be read as a value. If the handler does not catch the exception, the processor treats it as any
    /// failure of a handler: it reports it to <see cref="LightQProcessor.ProcessErrorAsync"/> and abandons the message,
    /// which is redelivered up to the topic's limit.
    /// </exception>
    /// <exception cref="UnusableSerializerException">
    /// The serializer cannot read any body. If the handler does not catch the exception, the processor pauses.
    /// </exception>
    public T GetValue<T>(IMessageSerializer<T> serializer) => Message.As(serializer, Topic).Value;
}
