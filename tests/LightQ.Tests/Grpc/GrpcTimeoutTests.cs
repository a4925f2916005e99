using LightQ.Grpc;
using Xunit;

namespace LightQ.Tests.Grpc;

public sealed class GrpcTimeoutTests
{
    [Theory]
    [InlineData("1H", 36_000_000_000)]
    [InlineData("2M", 1_200_000_000)]
    [InlineData("3S", 30_000_000)]
    [InlineData("4m", 40_000)]
    [InlineData("5u", 50)]
    [InlineData("600n", 6)]
    [InlineData("0S", 0)]
    [InlineData("99999999H", 99_999_999 * TimeSpan.TicksPerHour)]
    public void A_timeout_is_parsed(string text, long ticks)
    {
        Assert.True(GrpcTimeout.TryParse(text, out TimeSpan timeout));
        Assert.Equal(ticks, timeout.Ticks);
    }

    [Theory]
    [InlineData("")]
    [InlineData("S")]
    [InlineData("1")]
    [InlineData("-1S")]
    [InlineData("+1S")]
    [InlineData(" 1S")]
    [InlineData("1 S")]
    [InlineData("1s")]
    [InlineData("1.5S")]
    [InlineData("123456789S")]
    public void What_is_no_timeout_is_refused(string text) => Assert.False(GrpcTimeout.TryParse(text, out _));

    [Theory]
    [InlineData(-1, "0n")]
    [InlineData(0, "0n")]
    [InlineData(1, "100n")]
    [InlineData(10_000_000, "1000000u")]
    [InlineData(36_000_000_000, "3600000m")]
    [InlineData(long.MaxValue, "99999999H")]
    public void A_timeout_is_written_in_the_finest_unit_that_fits(long ticks, string expected) =>
        Assert.Equal(expected, GrpcTimeout.Format(TimeSpan.FromTicks(ticks)));

    [Fact]
    public void A_written_timeout_is_never_shorter_than_asked_and_hardly_longer()
    {
        for (long ticks = 1; ticks > 0 && ticks < TimeSpan.TicksPerDay * 1_000_000; ticks = (ticks * 3) + 7)
        {
            Assert.True(GrpcTimeout.TryParse(GrpcTimeout.Format(TimeSpan.FromTicks(ticks)), out TimeSpan parsed));
            Assert.InRange(parsed.Ticks, ticks, ticks + (ticks / 100_000) + 1);
        }
    }
}
