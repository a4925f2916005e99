namespace LightQ.Client;

/// <summary>Something that failed in a <see cref="LightQProcessor"/>.</summary>
public sealed class ProcessErrorEventArgs : EventArgs
{
    /// <summary>Creates the event's data.</summary>
    /// <param name="source">What the processor was doing.</param>
    /// <param name="exception">What went wrong.</param>
    /// <param name="topic">The topic.</param>
    /// <param name="group">The group.</param>
    /// <param name="message">The message that the failure concerns; null for none.</param>
    public ProcessErrorEventArgs(
        ProcessErrorSource source,
        Exception exception,
        string topic,
        string group,
        Message? message
    )
    {
        Source = source;
        Exception = exception;
        Topic = topic;
        Group = group;
        Message = message;
    }

    /// <summary>What the processor was doing.</summary>
    public ProcessErrorSource Source { get; }

    /// <summary>What went wrong; for a failed handler, the exception that it threw.</summary>
    public Exception Exception { get; }

    /// <summary>The topic.</summary>
    public string Topic { get; }

    /// <summary>The group.</summary>
    public string Group { get; }

    /// <summary>The message that the failure concerns; null for none. May be kept.</summary>
    public Message? Message { get; }

    /// <summary>The message's partition; null without a message.</summary>
    public int? Partition => Message?.Partition;

    /// <summary>The message's offset; null without a message.</summary>
    public long? Offset => Message?.Offset;
}
