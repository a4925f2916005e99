namespace LightQ.Bench.Figures;

/// <summary>The middle of several runs: one that a busy machine spoilt does not move it.</summary>
internal static class Median
{
    public static double Of(IEnumerable<double> values)
    {
        double[] sorted = [.. values.Order()];
        int middle = sorted.Length / 2;
        return sorted.Length == 0 ? 0
            : sorted.Length % 2 == 1 ? sorted[middle]
            : (sorted[middle - 1] + sorted[middle]) / 2;
    }
}
