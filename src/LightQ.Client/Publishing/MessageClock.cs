using LightQ.Protocol;
using LightQ.Protocol.Batches;

namespace LightQ.Client.Publishing;

/// <summary>Says when a message that is published now is due and when it expires, in steps that let messages meet in a batch.</summary>
internal sealed class MessageClock(TimeProvider time, TimeSpan? timeToLive)
{
    // A 64th: with a time to live of 10 s a new batch begins every 156 ms for its sake.
    private const int ExpirySteps = 64;
    private const long ShortestStep = 1000;
    private const long DueStep = 10_000;

    /// <summary>Whether a message that says nothing of times needs none.</summary>
    public bool IsPlain => timeToLive is null;

    /// <summary>The times of a message that is published now.</summary>
    public BatchTiming Stamp(in PublishOptions options)
    {
        TimeSpan? lifetime = options.TimeToLive ?? timeToLive;
        if (lifetime == Timeout.InfiniteTimeSpan)
            lifetime = null;
        bool isDelayed = options.Delay != TimeSpan.Zero || options.DeliverAt is not null;
        if (lifetime is null && !isDelayed)
            return default;
        long now = UnixMicroseconds.From(time.GetUtcNow());
        long due = isDelayed ? Due(now, options) : 0;
        return new BatchTiming(due, lifetime is { } life ? Expiry(Math.Max(now, due), life) : 0);
    }

    private static long Due(long now, in PublishOptions options)
    {
        if (options.DeliverAt is not { } at)
            return RoundUp(now + (options.Delay.Ticks / TimeSpan.TicksPerMicrosecond), DueStep);
        if (options.Delay != TimeSpan.Zero)
            throw new LightQException(ErrorCode.InvalidArgument, $"{nameof(PublishOptions.Delay)} and {nameof(PublishOptions.DeliverAt)} are both set; allowed: one of them.");
        long due = RoundUp(UnixMicroseconds.From(at), DueStep);
        if (due - now > ProtocolLimits.LongestDelay.TotalMicroseconds)
            throw new LightQException(ErrorCode.InvalidArgument, $"{nameof(PublishOptions.DeliverAt)} is {at:O}; allowed: at most {ProtocolLimits.LongestDelay.TotalDays} days from now.");
        return due > now ? due : 0;
    }

    private static long Expiry(long from, TimeSpan life)
    {
        long micros = life.Ticks / TimeSpan.TicksPerMicrosecond;
        // So long that it lies behind the end of time: never.
        return micros > long.MaxValue / 2 - from ? 0 : RoundUp(from + micros, Math.Max(micros / ExpirySteps, ShortestStep));
    }

    private static long RoundUp(long value, long step) => (value + step - 1) / step * step;
}
