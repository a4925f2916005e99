using LightQ.Broker.Logs;
using LightQ.Broker.Topics;
using LightQ.Protocol;

namespace LightQ.Broker.Groups;

/// <summary>Finds out how old the oldest message is that a group has not settled. Thread-safe.</summary>
/// <remarks>
/// What was read is remembered: a group that stands still costs one read, however often it is asked for.
/// </remarks>
internal sealed class OldestUnsettled
{
    /// <summary>
    /// How many batches without messages are skipped in one go; the next request goes on behind them.
    /// </summary>
    private const int MostBatches = 64;

    private Known? _known;

    /// <summary>The age; zero when nothing waits for a member, null when that is not known.</summary>
    public async ValueTask<TimeSpan?> ReadAgeAsync(Group group, CancellationToken cancellationToken)
    {
        Partition partition = group.Partition;
        LogCursor first = group.FirstUnsettled;
        long now = UnixMicroseconds.From(partition.Time.GetUtcNow());
        long? appended = await FindAsync(partition.Log, first, now, cancellationToken).ConfigureAwait(false);
        return appended is { } time ? TimeSpan.FromMicroseconds(Math.Max(0, now - time)) : null;
    }

    /// <summary>When it was appended: now, when there is none.</summary>
    private async ValueTask<long?> FindAsync(
        ITopicLog log,
        LogCursor first,
        long now,
        CancellationToken cancellationToken
    )
    {
        long asked = Math.Max(first.Offset, log.StartOffset),
            end = log.ReadableOffset,
            at = asked;
        if (asked >= end)
            return now;
        if (Volatile.Read(ref _known) is { } known && known.From <= asked && asked < known.End)
        {
            if (known.Appended is { } time && known.Expires > now)
                return time;
            at = known.End;
        }
        if (log is RingLog ring)
            return Remember(asked, ring.FindTimes(first with { Offset = asked }, out long behind), behind) ?? now;
        for (
            int batches = 0;
            at < end && batches < MostBatches && !cancellationToken.IsCancellationRequested;
            batches++
        )
        {
            (BatchTimes? times, long next) = await BatchFetch
                .ReadTimesAsync(log, at, cancellationToken)
                .ConfigureAwait(false);
            if (next == long.MaxValue)
                return now; // The log ends before that: nothing to remember.
            at = Math.Min(next, end);
            bool isForSomebody = times is { Due: 0 } && times.Expires > now;
            if (Remember(asked, isForSomebody ? times : null, at) is { } appended)
                return appended;
        }
        return at >= end ? now : null;
    }

    private long? Remember(long from, BatchTimes? times, long end)
    {
        Volatile.Write(ref _known, new Known(from, end, times?.Appended, times?.Expires ?? 0));
        return times?.Appended;
    }

    /// <param name="From">The first offset that this is known of.</param>
    /// <param name="End">One behind the last.</param>
    /// <param name="Appended">When the first message there was appended that a consumer may get; null for none.</param>
    /// <param name="Expires">From when on no consumer gets it.</param>
    private sealed record Known(long From, long End, long? Appended, long Expires);
}
