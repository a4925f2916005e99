using LightQ.Scheduling;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.Tests.Storage;

public sealed class HousekeepingScheduleTests : IDisposable
{
    private static readonly TimeSpan Grain = TimeSpan.FromMilliseconds(500);
    private readonly ManualTime _time = new();
    private readonly HousekeepingSchedule _schedule;

    public HousekeepingScheduleTests() => _schedule = new HousekeepingSchedule(_time, Grain);

    public void Dispose() => _schedule.Dispose();

    [Fact]
    public void Something_is_looked_after_when_it_is_due_and_never_again_unless_it_says_so()
    {
        var task = new Task();
        _schedule.Request(task, TimeSpan.FromSeconds(10));
        _time.Advance(TimeSpan.FromSeconds(10) - TimeSpan.FromTicks(1));
        Assert.Equal(0, task.Looks);
        _time.Advance(TimeSpan.FromTicks(1));
        Assert.Equal(1, task.Looks);
        _time.Advance(TimeSpan.FromDays(1));
        Assert.Equal(1, task.Looks);
    }

    [Fact]
    public void What_is_due_at_the_end_of_time_is_not_due_now()
    {
        var task = new Task { Again = TimeSpan.MaxValue };
        _schedule.Request(task, TimeSpan.MaxValue);
        _time.Advance(TimeSpan.FromHours(1));
        Assert.Equal(0, task.Looks);
        _time.Advance(TimeSpan.FromDays(2)); // It is looked at once a day.
        Assert.InRange(task.Looks, 1, 2);
    }

    [Fact]
    public void What_says_when_it_is_due_again_is_looked_after_then()
    {
        var task = new Task { Again = TimeSpan.FromSeconds(2) };
        _schedule.Request(task, TimeSpan.Zero);
        _time.Advance(Grain);
        Assert.Equal(1, task.Looks);
        _time.Advance(TimeSpan.FromSeconds(20));
        Assert.Equal(11, task.Looks);
        task.Again = TimeSpan.Zero;
        _time.Advance(TimeSpan.FromSeconds(2));
        Assert.Equal(12, task.Looks);
        _time.Advance(TimeSpan.FromSeconds(2)); // At every grain, never twice at one.
        Assert.Equal(16, task.Looks);
    }

    [Fact]
    public void The_earliest_of_several_requests_counts()
    {
        var task = new Task();
        _schedule.Request(task, TimeSpan.FromSeconds(30));
        _schedule.Request(task, TimeSpan.FromSeconds(5));
        _schedule.Request(task, TimeSpan.FromSeconds(20));
        _time.Advance(TimeSpan.FromSeconds(5));
        Assert.Equal(1, task.Looks);
        _time.Advance(TimeSpan.FromMinutes(1));
        Assert.Equal(1, task.Looks);
    }

    [Fact]
    public void Moments_close_to_each_other_share_one_wake_up()
    {
        int calls = 0;
        using var schedule = new HousekeepingSchedule(_time, Grain, () => calls++);
        for (int i = 1; i <= 400; i++)
            schedule.Request(new Task(), TimeSpan.FromMilliseconds(i));
        _time.Advance(Grain);
        Assert.Equal(1, calls);
        schedule.Run();
        _time.Advance(TimeSpan.FromDays(1));
        Assert.Equal(1, calls);
    }

    [Fact]
    public void What_was_removed_is_not_looked_after()
    {
        var gone = new Task();
        var stays = new Task();
        _schedule.Request(gone, TimeSpan.FromSeconds(1));
        _schedule.Request(stays, TimeSpan.FromSeconds(1));
        _schedule.Remove(gone);
        _time.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal((0, 1), (gone.Looks, stays.Looks));
        _schedule.Request(gone, TimeSpan.FromSeconds(1));
        _time.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal(1, gone.Looks);
    }

    [Fact]
    public void What_is_requested_while_something_is_looked_after_is_not_forgotten()
    {
        var second = new Task();
        var first = new Task { Do = () => _schedule.Request(second, TimeSpan.FromSeconds(1)) };
        _schedule.Request(first, TimeSpan.FromSeconds(1));
        _time.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal((1, 0), (first.Looks, second.Looks));
        _time.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal((1, 1), (first.Looks, second.Looks));
    }

    private sealed class Task : IHousekept
    {
        public int Looks { get; private set; }

        public TimeSpan? Again { get; set; }

        public Action? Do { get; init; }

        public TimeSpan? Look(DateTimeOffset now)
        {
            Looks++;
            Do?.Invoke();
            return Again;
        }
    }
}
