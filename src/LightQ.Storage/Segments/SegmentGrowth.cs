namespace LightQ.Storage.Segments;

/// <summary>
/// How large the next segment file is: small at first, fourfold at each roll, so that many quiet topics cost little
/// disk.
/// </summary>
internal static class SegmentGrowth
{
    private const int FirstBytes = 256 * 1024;
    private const int Factor = 4;

    /// <summary>File bytes of the segment behind one of <paramref name="previousBytes"/> (0: the first).</summary>
    public static int Next(long previousBytes, JournalOptions options)
    {
        long least = RoundToPage(options.MaxBatchBytes + SegmentHeader.PageSize);
        long wanted = previousBytes == 0 ? FirstBytes : previousBytes * Factor;
        return (int)Math.Max(least, RoundToPage(Math.Min(wanted, options.SegmentBytes)));
    }

    private static long RoundToPage(long bytes) => (bytes + SegmentHeader.PageSize - 1) & -SegmentHeader.PageSize;
}
