using LightQ.Storage;
using Xunit;

namespace LightQ.Tests.Storage;

public sealed class SyncHistogramTests
{
    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(15)]
    [InlineData(16)]
    [InlineData(17)]
    [InlineData(31)]
    [InlineData(32)]
    [InlineData(1_000)]
    [InlineData(1_000_000)]
    [InlineData(3_600_000_000)]
    public void A_time_is_told_a_sixteenth_too_long_at_most(long microseconds)
    {
        var histogram = new SyncHistogram();
        histogram.Add(TimeSpan.FromMicroseconds(microseconds));
        double told = histogram.Read().Percentile(0.5)!.Value.TotalMicroseconds;
        Assert.InRange(told, microseconds + 1, (microseconds * (1 + (1 / 16.0))) + 1);
    }

    [Fact]
    public void Times_outside_what_it_tells_apart_are_counted_at_its_ends()
    {
        var histogram = new SyncHistogram();
        histogram.Add(TimeSpan.FromSeconds(-1));
        histogram.Add(TimeSpan.FromDays(100));
        SyncDurations read = histogram.Read();
        Assert.Equal(TimeSpan.FromMicroseconds(1), read.Percentile(0.5));
        Assert.InRange(read.Percentile(1)!.Value, TimeSpan.FromDays(1), TimeSpan.FromDays(2));
    }

    [Fact]
    public void A_percentile_is_of_the_share_that_took_no_longer()
    {
        var histogram = new SyncHistogram();
        foreach (int microseconds in (int[])[.. Enumerable.Repeat(3, 50), .. Enumerable.Repeat(7, 49), 12])
            histogram.Add(TimeSpan.FromMicroseconds(microseconds));
        SyncDurations read = histogram.Read();
        Assert.Equal(TimeSpan.FromMicroseconds(4), read.Percentile(0.5));
        Assert.Equal(TimeSpan.FromMicroseconds(8), read.Percentile(0.51));
        Assert.Equal(TimeSpan.FromMicroseconds(8), read.Percentile(0.99));
        Assert.Equal(TimeSpan.FromMicroseconds(13), read.Percentile(0.995));
    }

    [Fact]
    public void What_has_come_since_an_earlier_reading_is_told_alone()
    {
        var histogram = new SyncHistogram();
        Assert.Null(histogram.Read().Percentile(0.5));
        histogram.Add(TimeSpan.FromSeconds(1));
        SyncDurations before = histogram.Read();
        Assert.Null(histogram.Read().Since(before).Percentile(0.99));
        histogram.Add(TimeSpan.FromMicroseconds(9));
        Assert.Equal(TimeSpan.FromMicroseconds(10), histogram.Read().Since(before).Percentile(0.99));
    }
}
