using LightQ.Testing;
using Xunit;

namespace LightQ.Tests.Testing;

public sealed class TestTimeTests
{
    private static readonly TimeSpan Day = TimeSpan.FromDays(1);
    private readonly TestTime _time = new();

    [Fact]
    public void Its_clocks_jump_together_and_go_on()
    {
        long began = _time.GetTimestamp();
        DateTimeOffset before = _time.GetUtcNow();
        _time.Advance(Day);
        Assert.Equal(Day, _time.Ahead);
        Assert.InRange(_time.GetUtcNow() - before, Day, Day + TimeSpan.FromMinutes(1));
        Assert.InRange(_time.GetElapsedTime(began), Day, Day + TimeSpan.FromMinutes(1));
        DateTimeOffset after = _time.GetUtcNow();
        SpinWait.SpinUntil(() => _time.GetUtcNow() > after);
    }

    [Fact]
    public void Timers_it_jumps_over_have_fired_in_their_order_when_it_is_done_and_others_have_not()
    {
        var fired = new List<int>();
        foreach (int hours in (int[])[3, 1, 30, 2])
            _time.CreateTimer(_ => fired.Add(hours), null, TimeSpan.FromHours(hours), Timeout.InfiniteTimeSpan);
        _time.Advance(Day);
        Assert.Equal([1, 2, 3], fired);
        _time.Advance(Day);
        Assert.Equal([1, 2, 3, 30], fired);
    }

    [Fact]
    public void A_timer_that_throws_keeps_no_other_from_firing()
    {
        int fired = 0;
        using ITimer first = _time.CreateTimer(
            _ => throw new FormatException("first"),
            null,
            TimeSpan.FromHours(1),
            Timeout.InfiniteTimeSpan
        );
        using ITimer second = _time.CreateTimer(_ => fired++, null, TimeSpan.FromHours(2), Timeout.InfiniteTimeSpan);
        AggregateException thrown = Assert.Throws<AggregateException>(() => _time.Advance(Day));
        Assert.Equal("first", Assert.IsType<FormatException>(Assert.Single(thrown.InnerExceptions)).Message);
        Assert.Equal(1, fired);
    }

    [Fact]
    public void A_timer_with_a_period_fires_once_a_jump()
    {
        int fired = 0;
        using ITimer timer = _time.CreateTimer(_ => fired++, null, TimeSpan.FromHours(1), TimeSpan.FromHours(1));
        _time.Advance(Day);
        _time.Advance(TimeSpan.FromMinutes(30));
        Assert.Equal(1, fired);
        _time.Advance(TimeSpan.FromMinutes(30));
        Assert.Equal(2, fired);
    }

    [Fact]
    public void A_timer_that_was_disposed_or_stopped_does_not_fire()
    {
        int fired = 0;
        ITimer disposed = _time.CreateTimer(_ => fired++, null, TimeSpan.FromHours(1), TimeSpan.FromHours(1));
        using ITimer stopped = _time.CreateTimer(_ => fired++, null, TimeSpan.FromHours(1), TimeSpan.FromHours(1));
        disposed.Dispose();
        stopped.Change(Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        _time.Advance(Day);
        Assert.Equal(0, fired);
    }

    [Fact]
    public void A_timer_that_was_disposed_cannot_be_changed()
    {
        int fired = 0;
        ITimer timer = _time.CreateTimer(_ => fired++, null, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        timer.Dispose();
        Assert.False(timer.Change(TimeSpan.FromHours(1), Timeout.InfiniteTimeSpan));
        _time.Advance(Day);
        Assert.Equal(0, fired);
    }

    [Fact]
    public async Task A_timer_also_fires_when_its_time_has_come_by_itself_and_a_jump_shortens_its_wait()
    {
        CancellationToken cancellationToken = TestContext.Current.CancellationToken;
        await Task.Delay(TimeSpan.FromMilliseconds(1), _time, cancellationToken);
        Task delay = Task.Delay(Day + TimeSpan.FromMilliseconds(50), _time, cancellationToken);
        _time.Advance(Day);
        await delay;
    }

    [Fact]
    public void It_does_not_go_back() =>
        Assert.Throws<ArgumentOutOfRangeException>(() => _time.Advance(TimeSpan.FromTicks(-1)));
}
