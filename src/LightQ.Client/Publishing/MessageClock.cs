using LightQ.Protocol;
using LightQ.Protocol.Batches;

namespace LightQ.Client.Publishing;

/// <summary>Says when a message that is published now is due and when it expires, in steps that let messages meet in a batch.</summary>
internal sealed class MessageClock(TimeProvider time, TimeSpan? timeToLive)
{
    // A 64th: with a time to live of 10 s a new batch begins every 156 ms for its sake.
    private const int ExpirySteps = 64;
    private const long ShortestStep = 1000;

    /// <summary>Whether a message that says nothing of times needs none.</summary>
    public bool IsPlain => timeToLive is null;

    /// <summary>The times of a message that is published now.</summary>
    public BatchTiming Stamp(in PublishOptions options)
    {
        TimeSpan? lifetime = options.TimeToLive ?? timeToLive;
        if (lifetime is not { } life || life == Timeout.InfiniteTimeSpan)
            return default;
        long now = UnixMicroseconds.From(time.GetUtcNow());
        return new BatchTiming(0, Expiry(now, life));
    }

    private static long Expiry(long from, TimeSpan life)
    {
        long micros = life.Ticks / TimeSpan.TicksPerMicrosecond;
        // So long that it lies behind the end of time: never.
        return micros > long.MaxValue / 2 - from ? 0 : RoundUp(from + micros, Math.Max(micros / ExpirySteps, ShortestStep));
    }

    private static long RoundUp(long value, long step) => (value + step - 1) / step * step;
}
