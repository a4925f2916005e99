namespace LightQ.Client;

/// <summary>
/// What happens when a subscriber is slower than a transient topic, and the ring needs the space of messages that were
/// not yet sent to it.
/// </summary>
/// <remarks>
/// On a durable topic a slow subscriber reads from the log: producers do not wait for it, and only retention removes
/// messages.
/// </remarks>
public enum SlowPolicy : byte
{
    /// <summary>The topic's own policy.</summary>
    TopicDefault = 0,

    /// <summary>
    /// Producers wait for the subscriber. When it takes nothing for the length of its time-out, it is ended with
    /// <see cref="ErrorCode.SlowConsumer"/>.
    /// </summary>
    Block = 1,

    /// <summary>
    /// The subscriber loses the oldest messages that were not yet sent to it, and gets a gap over them.
    /// </summary>
    DropOldest = 2,

    /// <summary>
    /// The subscriber gets what the ring held when it became full, then one gap over the messages that arrived until
    /// that was sent. Then it goes on with the messages that arrive next.
    /// </summary>
    DropNewest = 3,

    /// <summary>The subscriber is ended at once with <see cref="ErrorCode.SlowConsumer"/>.</summary>
    Disconnect = 4,

    /// <summary>
    /// The broker writes the subscriber's backlog to temporary files and sends it from there, in order and complete.
    /// When the backlog exceeds its limits, the subscriber is ended with <see cref="ErrorCode.SlowConsumer"/>.
    /// </summary>
    SpillToDisk = 5,
}
