using LightQ.Bench.Figures;
using Xunit;

namespace LightQ.Tests.Bench.Figures;

/// <summary>The histogram against exact percentiles of the sorted values.</summary>
public sealed class LatencyHistogramTests
{
    private static readonly double[] Percents = [0, 1, 10, 50, 75, 90, 99, 99.9, 99.99, 100];

    [Theory]
    [InlineData(1, 100)]
    [InlineData(2, 5_000)]
    [InlineData(3, 1_000_000)]
    [InlineData(4, 3_000_000_000)]
    [InlineData(5, LatencyHistogram.MaxValue)]
    public void Percentiles_are_right_to_a_thousandth(int seed, long largest)
    {
        var random = new Random(seed);
        var histogram = new LatencyHistogram();
        long[] values = new long[20_000];
        for (int i = 0; i < values.Length; i++)
        {
            // Spread over all magnitudes, as latencies are.
            values[i] = (long)Math.Exp(random.NextDouble() * Math.Log(largest));
            histogram.Record(values[i]);
        }
        Array.Sort(values);

        foreach (double percent in Percents)
        {
            long exact = values[Math.Max(1, (int)Math.Ceiling(percent / 100 * values.Length)) - 1];
            Assert.InRange(histogram.Percentile(percent), exact, exact + (exact / 1000));
        }
        Assert.Equal(values.Count(v => v >= 2000), histogram.CountFrom(2000));
        Assert.Equal(values[0], histogram.Min);
        Assert.Equal(values[^1], histogram.Max);
        Assert.Equal(values.Length, histogram.Count);
    }

    [Fact]
    public void Every_boundary_of_a_bucket_is_told_apart_from_the_one_a_thousandth_below()
    {
        for (int power = 0; power < 42; power++)
        {
            foreach (long value in new[] { (1L << power) - 1, 1L << power, (1L << power) + 1 })
            {
                var histogram = new LatencyHistogram();
                histogram.Record(value);
                histogram.Record(LatencyHistogram.MaxValue);
                Assert.InRange(histogram.Percentile(50), value, value + (value / 1000));
            }
        }
    }

    [Fact]
    public void Values_out_of_range_count_as_the_nearest_in_range()
    {
        var histogram = new LatencyHistogram();
        histogram.Record(-5);
        histogram.Record(long.MaxValue);

        Assert.Equal(0, histogram.Min);
        Assert.Equal(LatencyHistogram.MaxValue, histogram.Max);
    }

    [Fact]
    public void Two_histograms_added_equal_one_that_got_everything()
    {
        var random = new Random(7);
        LatencyHistogram even = new(),
            odd = new(),
            all = new();
        for (int i = 0; i < 1000; i++)
        {
            long value = random.NextInt64(1_000_000);
            (i % 2 == 0 ? even : odd).Record(value);
            all.Record(value);
        }
        even.Add(odd);

        Assert.All(Percents, percent => Assert.Equal(all.Percentile(percent), even.Percentile(percent)));
        Assert.Equal((all.Count, all.Min, all.Max), (even.Count, even.Min, even.Max));
    }

    [Fact]
    public void An_empty_histogram_has_zeros()
    {
        var histogram = new LatencyHistogram();

        Assert.Equal((0, 0, 0, 0), (histogram.Count, histogram.Min, histogram.Max, histogram.Percentile(99)));
    }
}
