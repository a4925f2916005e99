using LightQ.Protocol;
using LightQ.Protocol.Batches;
using LightQ.Scheduling;

namespace LightQ.Broker.Topics;

/// <summary>Judges the times of stored batches by the broker's clock.</summary>
internal static class BatchClock
{
    /// <summary>What a consumer does with a batch now; see <see cref="BatchView.FateAt"/>.</summary>
    public static BatchFate FateOf(this SteadyClock clock, in BatchView batch) =>
        batch.FateAt((batch.Flags & BatchLayout.HasExpiry) == 0 ? 0 : clock.NowFor(batch.AppendTime, batch.ExpiresAt));

    /// <summary>
    /// The time to compare an expiry with, in unix microseconds: what is as long after the append as the expiry is, by
    /// a clock that is not set.
    /// </summary>
    public static long NowFor(this SteadyClock clock, long appended, long expires)
    {
        if (clock.StepsTaken == 0 || expires == long.MaxValue)
            return UnixMicroseconds.From(clock.GetUtcNow());
        var life = TimeSpan.FromMicroseconds(expires - appended);
        return UnixMicroseconds.From(clock.Ago(life)) + (expires - appended);
    }
}
