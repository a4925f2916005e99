using LightQ.Client.Consuming;
using Xunit;

namespace LightQ.Tests.Client;

public sealed class InFlightWindowTests
{
    [Theory]
    [InlineData(1, 100)]
    [InlineData(10, 10)]
    [InlineData(50, 2)]
    [InlineData(400, 1)]
    [InlineData(1000, 0)]
    [InlineData(60_000, 0)]
    public void As_much_waits_as_is_worked_off_in_a_tenth_of_a_second(int milliseconds, int ahead)
    {
        var window = new InFlightWindow(InFlightWindow.FirstMessages);
        for (int i = 0; i < 10; i++)
            window.OnWorked(10, TimeSpan.FromMilliseconds(10 * milliseconds));
        Assert.Equal(ahead, window.Ahead);
    }

    [Fact]
    public void Work_that_takes_no_time_doubles_it_each_time()
    {
        var window = new InFlightWindow(32);
        for (int wanted = 64; wanted <= 1 << 20; wanted *= 2)
        {
            Assert.True(window.OnWorked(17, TimeSpan.Zero));
            Assert.Equal(wanted, window.Ahead);
        }
        Assert.False(window.OnWorked(17, TimeSpan.Zero));
    }

    [Fact]
    public void After_slow_work_it_grows_again()
    {
        var window = new InFlightWindow(32);
        Assert.True(window.OnWorked(1, TimeSpan.FromSeconds(5)));
        Assert.Equal(0, window.Ahead);
        var sizes = new List<int>();
        for (int i = 0; i < 4; i++)
        {
            window.OnWorked(1, TimeSpan.FromMilliseconds(10));
            sizes.Add(window.Ahead);
        }
        Assert.Equal([2, 4, 8, 8], sizes); // 10 would be no news.
    }

    [Fact]
    public void A_fetch_finds_what_it_asks_for()
    {
        var window = new InFlightWindow(0);
        window.Fetch(100);
        Assert.Equal(100, window.Ahead);
        Assert.True(window.OnWorked(1, TimeSpan.FromSeconds(5)));
        Assert.Equal(100, window.Ahead);
    }
}
