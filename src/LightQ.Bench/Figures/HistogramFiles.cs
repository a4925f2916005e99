using System.Globalization;

namespace LightQ.Bench.Figures;

/// <summary>
/// Writes a histogram of nanoseconds as HdrHistogram's plotter reads it, and its values one by one; both in
/// milliseconds.
/// </summary>
internal static class HistogramFiles
{
    private const double NanosecondsPerMillisecond = 1e6;
    private const int StepsPerHalf = 5;

    /// <summary>Writes <c>FILE.histogram</c> and <c>FILE.raw</c>.</summary>
    public static void Write(string file, LatencyHistogram histogram)
    {
        using (var distribution = new StreamWriter(file + ".histogram"))
            WriteDistribution(distribution, histogram);
        using var raw = new StreamWriter(file + ".raw");
        foreach (long value in histogram.Values)
            raw.Write(Text($"{Milliseconds(value):F6}\n"));
    }

    /// <summary>The percentile distribution: five steps to every halving of what is left above.</summary>
    public static void WriteDistribution(TextWriter output, LatencyHistogram histogram)
    {
        output.Write(Text($"{"Value", 12} {"Percentile", 14} {"TotalCount", 10} {"1/(1-Percentile)", 14}\n\n"));
        double percentile = 0;
        long seen = 0;
        foreach ((long value, long count) in histogram.Buckets())
        {
            seen += count;
            while (seen < histogram.Count && 100.0 * seen / histogram.Count >= percentile)
            {
                output.Write(
                    Text($"{Milliseconds(value), 12:F6} {percentile / 100, 2:F12} {seen, 10} ")
                        + Text($"{1 / (1 - (percentile / 100)), 14:F2}\n")
                );
                double steps = StepsPerHalf * Math.Pow(2, Math.Floor(Math.Log2(100 / (100 - percentile))) + 1);
                percentile += 100 / steps;
            }
        }
        output.Write(Text($"{Milliseconds(histogram.Max), 12:F6} {1, 2:F12} {histogram.Count, 10}\n"));
        double mean = histogram.Buckets().Sum(b => (double)b.Value * b.Count) / Math.Max(1, histogram.Count);
        double deviation = Math.Sqrt(
            histogram.Buckets().Sum(b => (b.Value - mean) * (b.Value - mean) * b.Count) / Math.Max(1, histogram.Count)
        );
        output.Write(
            Text($"#[Mean    = {mean / NanosecondsPerMillisecond, 12:F6}, StdDeviation   = ")
                + Text($"{deviation / NanosecondsPerMillisecond, 12:F6}]\n")
        );
        output.Write(
            Text($"#[Max     = {Milliseconds(histogram.Max), 12:F6}, Total count    = {histogram.Count, 12}]\n")
        );
    }

    private static double Milliseconds(long nanoseconds) => nanoseconds / NanosecondsPerMillisecond;

    private static string Text(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);
}
