using LightQ.Protocol;
using LightQ.Protocol.Batches;

namespace LightQ.Client.Publishing;

/// <summary>
/// Says when a message that is published now is due and when it expires, in steps that let messages meet in a batch;
/// and its id.
/// </summary>
internal sealed class MessageClock(TimeProvider time, TimeSpan? timeToLive)
{
    /// <summary>Whether a message that says nothing of times needs none.</summary>
    public bool IsPlain => timeToLive is null;

    /// <summary>The times of a message that is published now.</summary>
    public BatchProperties Stamp(in PublishOptions options)
    {
        TimeSpan? lifetime = options.TimeToLive ?? timeToLive;
        if (lifetime == Timeout.InfiniteTimeSpan)
            lifetime = null;
        bool isDelayed = options.Delay != TimeSpan.Zero || options.DeliverAt is not null;
        if (lifetime is null && !isDelayed)
            return new BatchProperties(0, 0, options.MessageId);
        long now = UnixMicroseconds.From(time.GetUtcNow());
        return BatchProperties.Round(now, isDelayed ? Due(now, options) : 0, lifetime) with
        {
            MessageId = options.MessageId,
        };
    }

    private static long Due(long now, in PublishOptions options)
    {
        if (options.DeliverAt is not { } at)
            return now + (options.Delay.Ticks / TimeSpan.TicksPerMicrosecond);
        if (options.Delay != TimeSpan.Zero)
        {
            throw new LightQException(
                ErrorCode.InvalidArgument,
                $"{nameof(PublishOptions.Delay)} and {nameof(PublishOptions.DeliverAt)} are both set; allowed: one of "
                    + $"them."
            );
        }

        long due = UnixMicroseconds.From(at);
        if (due - now > ProtocolLimits.LongestDelay.TotalMicroseconds)
        {
            throw new LightQException(
                ErrorCode.InvalidArgument,
                $"{nameof(PublishOptions.DeliverAt)} is {at:O}; allowed: at most "
                    + $"{ProtocolLimits.LongestDelay.TotalDays} days from now."
            );
        }

        return due;
    }
}
