using LightQ.Protocol.Batches;

namespace LightQ.Broker.Logs;

/// <summary>The times in a batch's header, in unix microseconds.</summary>
/// <param name="Appended">When the broker appended it.</param>
/// <param name="Due">When its messages are due; 0 for at once.</param>
/// <param name="Expires">From when on no consumer gets them.</param>
internal sealed record BatchTimes(long Appended, long Due, long Expires)
{
    public static BatchTimes Of(in BatchView batch) => new(batch.AppendTime, batch.DueAt, batch.ExpiresAt);
}
