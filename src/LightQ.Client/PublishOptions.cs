using LightQ.Protocol;
using LightQ.Protocol.Batches;

namespace LightQ.Client;

/// <summary>
/// When a message is delivered, how long it is of use, and its id. The default value: delivered at once, of use as long
/// as the producer's options say, and without an id.
/// </summary>
/// <remarks>
/// The times belong to batches, so only messages with equal options share a batch. A producer that alternates between
/// many different times sends many small batches. So that messages can share a batch, an expiry is rounded up by at
/// most a 64th of the time to live (at least 1 ms), and a due time by at most 10 ms.
/// </remarks>
/// <example>
/// <code>
/// await producer.PublishAsync(body, new PublishOptions { TimeToLive = TimeSpan.FromSeconds(10) });
/// await producer.PublishAsync(body, new PublishOptions { Delay = TimeSpan.FromMinutes(5) }, key: "42");
///
/// PublishAck ack = await producer.PublishAsync(body, new PublishOptions { MessageId = "payment-4711" });
/// if (ack.IsDuplicate)
///     log.LogInformation("It was stored before, at {Offset}.", ack.Offset);
/// </code>
/// </example>
public readonly record struct PublishOptions
{
    internal static readonly TimeSpan ShortestTimeToLive = TimeSpan.FromMilliseconds(1);

    /// <summary>
    /// Time from now until the message is delivered: zero (the default, at once) to 365 days. Durable topics only.
    /// Others reject the message with <see cref="ErrorCode.NotSupported"/>. It is acknowledged at once. At that time or
    /// shortly after, it is delivered as a message at the end of the log, with another offset than the one in its ack.
    /// </summary>
    public TimeSpan Delay
    {
        get;
        init
        {
            ArgumentOutOfRangeException.ThrowIfLessThan(value, TimeSpan.Zero);
            ArgumentOutOfRangeException.ThrowIfGreaterThan(value, ProtocolLimits.LongestDelay);
            field = value;
        }
    }

    /// <summary>
    /// When the message is delivered, like <see cref="Delay"/>; a time in the past means at once. Null (the default):
    /// the delay decides.
    /// </summary>
    public DateTimeOffset? DeliverAt { get; init; }

    /// <summary>
    /// How long the message is of use, from when it is published or due: 1 ms or more,
    /// <see cref="Timeout.InfiniteTimeSpan"/> for ever. Null (the default): <see cref="ProducerOptions.TimeToLive"/>. A
    /// consumer that reads the message later than that, by its own clock, reports a gap (expired) instead.
    /// </summary>
    public TimeSpan? TimeToLive
    {
        get;
        init
        {
            if (value is { } time && time != Timeout.InfiniteTimeSpan)
                ArgumentOutOfRangeException.ThrowIfLessThan(time, ShortestTimeToLive, nameof(value));
            field = value;
        }
    }

    /// <summary>
    /// The message's id, 1 to 128 bytes in UTF-8; null (the default) for none. It works on a topic with a deduplication
    /// window (<see cref="TopicSpec.DedupWindow"/>). If a message within the window had the same id, the message is not
    /// stored again, no matter which client publishes it. The ack reports that (<see cref="PublishAck.IsDuplicate"/>).
    /// Each partition has its own window. The key chooses the partition, and without a key the id does: so publish the
    /// same message with the same key. On other topics the id is only stored with the message, which the ack says (<see
    /// cref="PublishAck.IsIdUnchecked"/>) and the log once for a producer. A message with an id has a batch of its own,
    /// so it costs more than one without.
    /// </summary>
    /// <exception cref="ArgumentException">The id is empty, longer, or not valid text.</exception>
    public string? MessageId
    {
        get;
        init =>
            field =
                value is null || BatchProperties.IsMessageId(value)
                    ? value
                    : throw new ArgumentException(
                        $"A message id has 1 to {ProtocolLimits.MaxMessageIdBytes} bytes in UTF-8.",
                        nameof(value)
                    );
    }
}
