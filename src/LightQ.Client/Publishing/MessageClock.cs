using LightQ.Protocol;
using LightQ.Protocol.Batches;

namespace LightQ.Client.Publishing;

/// <summary>
/// Says when a message that is published now is due and when it expires: counted from when the broker appends it, but
/// for one that is to be delivered at a time. And its id.
/// </summary>
/// <param name="now">The time, by the broker's clock where that is known; unix microseconds.</param>
/// <param name="timeToLive">That of messages that say nothing of it; null for ever.</param>
internal sealed class MessageClock(Func<long> now, TimeSpan? timeToLive)
{
    /// <summary>Whether a message that says nothing of times needs none.</summary>
    public bool IsPlain => timeToLive is null;

    /// <summary>The times of a message that is published now.</summary>
    public BatchProperties Stamp(in PublishOptions options)
    {
        TimeSpan? lifetime = options.TimeToLive ?? timeToLive;
        if (lifetime == Timeout.InfiniteTimeSpan)
            lifetime = null;
        if (lifetime is null && options.Delay == TimeSpan.Zero && options.DeliverAt is null)
            return new BatchProperties(0, 0, options.MessageId);
        BatchProperties times = options.DeliverAt is { } at
            ? At(at, options, lifetime)
            : BatchProperties.Relative(options.Delay, lifetime);
        return times with { MessageId = options.MessageId };
    }

    private BatchProperties At(DateTimeOffset at, in PublishOptions options, TimeSpan? lifetime)
    {
        if (options.Delay != TimeSpan.Zero)
        {
            throw new LightQException(
                ErrorCode.InvalidArgument,
                $"{nameof(PublishOptions.Delay)} and {nameof(PublishOptions.DeliverAt)} are both set; allowed: one of "
                    + $"them."
            );
        }

        long published = now(),
            due = UnixMicroseconds.From(at);
        // Who counts from a clock of its own may be ahead by the slack that the broker grants.
        if (due - published > (ProtocolLimits.LongestDelay + ProtocolLimits.DueTimeSlack).TotalMicroseconds)
        {
            throw new LightQException(
                ErrorCode.InvalidArgument,
                $"{nameof(PublishOptions.DeliverAt)} is {at:O}; allowed: at most "
                    + $"{ProtocolLimits.LongestDelay.TotalDays} days from now."
            );
        }

        return due <= published
            ? BatchProperties.Relative(TimeSpan.Zero, lifetime)
            : BatchProperties.Round(published, due, lifetime);
    }
}
