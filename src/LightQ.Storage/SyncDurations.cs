namespace LightQ.Storage;

/// <summary>How many syncs took how long.</summary>
public sealed class SyncDurations
{
    private readonly long[] _counts;

    internal SyncDurations(long[] counts) => _counts = counts;

    /// <summary>What has come since an earlier reading.</summary>
    public SyncDurations Since(SyncDurations earlier) =>
        new([.. _counts.Zip(earlier._counts, static (now, before) => now - before)]);

    /// <summary>How long a share of them took at most, a sixteenth too long at worst; null without a sync.</summary>
    /// <param name="share">0.99 leaves out the longest one in a hundred.</param>
    public TimeSpan? Percentile(double share)
    {
        long total = _counts.Sum();
        if (total == 0)
            return null;
        long rank = Math.Max(1, (long)Math.Ceiling(share * total));
        int index = 0;
        for (long seen = _counts[0]; seen < rank; seen += _counts[index])
            index++;
        return SyncHistogram.EndOf(index);
    }
}
