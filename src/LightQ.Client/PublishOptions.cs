using LightQ.Protocol;
using LightQ.Protocol.Batches;

namespace LightQ.Client;

/// <summary>
/// When a message is delivered, how long it is of use, and its id. The default value: at once, as long as the
/// producer's options say, and none.
/// </summary>
/// <remarks>
/// The times belong to batches, so messages with equal options travel together and others do not: a producer that goes
/// back and forth between many different times sends many small batches. To let messages meet, an expiry is rounded up
/// by at most a 64th of the time to live (1 ms at least), a due time by at most 10 ms.
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
    /// How long from now the message is delivered: zero, which is the default and means at once, to 365 days. Durable
    /// topics only; others refuse it with <see cref="ErrorCode.NotSupported"/>, and the producer is of no more use
    /// then. It is acknowledged at once, and delivered as a message at the end of the log, with another offset than its
    /// ack says, at that time or shortly after.
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
    /// When the message is delivered, like <see cref="Delay"/>; in the past means at once. Null (the default): as the
    /// delay says.
    /// </summary>
    public DateTimeOffset? DeliverAt { get; init; }

    /// <summary>
    /// How long the message is of use, from when it is published or due: 1 ms or more,
    /// <see cref="Timeout.InfiniteTimeSpan"/> for ever. Null (the default): what
    /// <see cref="ProducerOptions.TimeToLive"/> says. A consumer that gets to it later, by its own clock, reports a gap
    /// (expired) instead.
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
    /// The message's id, 1 to 128 bytes in UTF-8; null, the default, for none. On a topic with a window for
    /// deduplication (<see cref="TopicSpec.DedupWindow"/>) a message whose id is that of a message of the last minutes
    /// is not stored again, whoever publishes it: the ack says so (<see cref="PublishAck.IsDuplicate"/>). The window is
    /// that of a partition, which the key chooses, and without a key the id: the same message goes with the same key.
    /// On other topics the id is stored with the message, and nothing more. A message with an id has a batch of its
    /// own, so it costs more than one without.
    /// </summary>
    /// <exception cref="ArgumentException">It is empty, longer, or no valid text.</exception>
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
