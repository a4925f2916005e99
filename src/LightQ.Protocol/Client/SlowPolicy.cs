namespace LightQ.Client;

/// <summary>
/// What happens when a subscriber is slower than a transient topic and the ring needs the room of what it has not been
/// sent.
/// </summary>
/// <remarks>
/// A durable topic's log is the backlog of every subscriber: nobody waits there, and only retention takes something
/// away.
/// </remarks>
public enum SlowPolicy : byte
{
    /// <summary>What the topic says.</summary>
    TopicDefault = 0,

    /// <summary>
    /// Producers wait for it. When it stands still for its time-out, it is ended with
    /// <see cref="ErrorCode.SlowConsumer"/>.
    /// </summary>
    Block = 1,

    /// <summary>It loses the oldest messages that it has not been sent, and gets a gap over them.</summary>
    DropOldest = 2,

    /// <summary>
    /// It gets what the ring held when it filled up, then one gap over what arrived until that was sent, and goes on
    /// with what arrives next.
    /// </summary>
    DropNewest = 3,

    /// <summary>It is ended at once with <see cref="ErrorCode.SlowConsumer"/>.</summary>
    Disconnect = 4,

    /// <summary>
    /// Its backlog goes to temporary files of the broker and is sent from there, in order and whole. When it passes its
    /// bounds, it is ended with <see cref="ErrorCode.SlowConsumer"/>.
    /// </summary>
    SpillToDisk = 5,
}
