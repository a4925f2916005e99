namespace LightQ.Broker.Groups;

/// <summary>Messages that members got and have not settled, and that are redelivered.</summary>
/// <param name="First">The first offset.</param>
/// <param name="Count">How many messages; 1 or above.</param>
/// <param name="Deliveries">How often they have been delivered; saturates.</param>
/// <param name="NotBefore">When they may be redelivered, in unix microseconds; 0 for at once.</param>
internal readonly record struct RedeliveryRange(long First, int Count, ushort Deliveries, long NotBefore)
{
    /// <summary>One behind the last offset.</summary>
    public long End => First + Count;

    /// <summary>
    /// Makes one of neighbours that differ in nothing else: a hundred thousand single leases must not cost megabytes
    /// whenever they are kept.
    /// </summary>
    /// <param name="sorted">By offset; is changed.</param>
    public static List<RedeliveryRange> Merge(List<RedeliveryRange> sorted)
    {
        int kept = 0;
        for (int i = 0; i < sorted.Count; i++)
        {
            RedeliveryRange next = sorted[i];
            if (kept > 0 && sorted[kept - 1].IsContinuedBy(next))
                sorted[kept - 1] = sorted[kept - 1] with { Count = sorted[kept - 1].Count + next.Count };
            else
                sorted[kept++] = next;
        }
        sorted.RemoveRange(kept, sorted.Count - kept);
        return sorted;
    }

    private bool IsContinuedBy(in RedeliveryRange next) =>
        End == next.First
        && Deliveries == next.Deliveries
        && NotBefore == next.NotBefore
        && Count <= int.MaxValue - next.Count;
}
