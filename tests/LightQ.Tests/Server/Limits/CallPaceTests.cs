using LightQ.Server.Limits;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.Tests.Server.Limits;

public sealed class CallPaceTests
{
    private readonly ManualTime _time = new();
    private int _rate = 100;

    [Fact]
    public void What_is_saved_up_may_come_at_once_and_what_is_beyond_is_waited_for()
    {
        var pace = new CallPace(() => _rate, _time);
        pace.Spend(20 * CallPace.Call); // As many as come in 200 ms.
        Assert.Equal(TimeSpan.Zero, pace.Debt);
        pace.Spend(30 * CallPace.Call);
        Assert.Equal(TimeSpan.FromMilliseconds(300), pace.Debt);
        _time.Advance(TimeSpan.FromMilliseconds(290));
        Assert.Equal(TimeSpan.FromMilliseconds(10), pace.Debt);
        pace.Spend(CallPace.Call / 2);
        Assert.Equal(TimeSpan.FromMilliseconds(15), pace.Debt);
    }

    [Fact]
    public void No_more_is_saved_up_however_long_nothing_was_done()
    {
        var pace = new CallPace(() => _rate, _time);
        pace.Spend(CallPace.Call);
        _time.Advance(TimeSpan.FromHours(1));
        pace.Spend(25 * CallPace.Call);
        Assert.Equal(TimeSpan.FromMilliseconds(50), pace.Debt);
    }

    [Fact]
    public void Another_limit_counts_at_once_and_zero_is_none()
    {
        var pace = new CallPace(() => _rate, _time);
        pace.Spend(20 * CallPace.Call);
        _rate = 10;
        pace.Spend(CallPace.Call);
        Assert.Equal(TimeSpan.FromMilliseconds(100), pace.Debt);
        _rate = 0;
        pace.Spend(1_000_000 * CallPace.Call);
        Assert.Equal(TimeSpan.FromMilliseconds(100), pace.Debt);
    }
}
