using LightQ.Scheduling;
using LightQ.Storage;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.Tests.Storage;

/// <summary>The broker's time when somebody sets the machine's clock.</summary>
public sealed class SteadyClockTests
{
    private static readonly TimeSpan Hour = TimeSpan.FromHours(1),
        Second = TimeSpan.FromSeconds(1);

    private readonly ManualTime _machine = new();
    private readonly SteadyClock _clock;
    private readonly List<ClockStep> _told = [];

    public SteadyClockTests()
    {
        _clock = new SteadyClock(_machine);
        _clock.Stepped += _told.Add;
    }

    [Theory]
    [InlineData(60)]
    [InlineData(-60)]
    public void A_step_changes_nothing_and_is_told_once_and_that_it_is_undone(int minutes)
    {
        var by = TimeSpan.FromMinutes(minutes + Math.Sign(minutes));
        DateTimeOffset began = _clock.GetUtcNow();
        _machine.Set = by;
        for (int i = 1; i <= 8; i++)
        {
            _machine.Advance(Second);
            Assert.Equal(began + (i * Second), _clock.GetUtcNow());
        }
        Assert.Equal([new ClockStep(by, ClockStepState.Seen)], _told);
        Assert.Equal(by, _clock.Step?.By);
        Assert.False(_clock.IsSure);
        _machine.Set = TimeSpan.Zero;
        _machine.Advance(Second);
        Assert.Null(_clock.Step);
        Assert.Equal(new ClockStep(by, ClockStepState.Undone), _told[1]);
        Assert.Equal(2, _told.Count);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(-1)]
    public void A_step_that_lasts_is_taken_over_and_makes_nothing_older_or_younger(int hours)
    {
        TimeSpan by = hours * Hour;
        DateTimeOffset before = _clock.GetUtcNow();
        _machine.Advance(TimeSpan.FromMinutes(20));
        _machine.Set = by;
        DateTimeOffset during = _clock.GetUtcNow();
        Go(SteadyClock.Trust + Second);
        Assert.Equal(new ClockStep(by, ClockStepState.Taken), _told[^1]);
        Assert.Equal(_machine.GetUtcNow(), _clock.GetUtcNow());
        Go(TimeSpan.FromMinutes(5));
        if (hours > 0)
        {
            Assert.Equal(before, _clock.Ago(TimeSpan.FromMinutes(35) + Second));
            Assert.Equal(during, _clock.Ago(TimeSpan.FromMinutes(15) + Second));
        }
        Assert.True(_clock.Ago(TimeSpan.FromMinutes(35)) <= before + Second);
        Assert.True(_clock.Ago(TimeSpan.FromMinutes(15)) <= during + Second);
        Assert.Equal(_clock.GetUtcNow() - TimeSpan.FromMinutes(5), _clock.Ago(TimeSpan.FromMinutes(5)));
        Assert.Equal(_clock.GetUtcNow(), _clock.Ago(TimeSpan.Zero));
        Assert.Equal(1, _clock.StepsTaken);
    }

    [Fact]
    public void What_was_stamped_behind_a_step_back_is_not_taken_for_what_was_stamped_before()
    {
        _machine.Set = -Hour;
        Go(SteadyClock.Trust + Second);
        DateTimeOffset made = _clock.GetUtcNow();
        for (int i = 0; i < 90; i++)
        {
            Go(TimeSpan.FromMinutes(1));
            Assert.True(_clock.Ago(TimeSpan.FromMinutes(i + 2)) <= made);
        }
    }

    [Fact]
    public void A_clock_that_is_set_again_and_again_is_not_believed_before_it_goes_evenly()
    {
        DateTimeOffset began = _clock.GetUtcNow();
        for (int i = 1; i <= 60; i++)
        {
            _machine.Set = i * Hour;
            Go(TimeSpan.FromMinutes(1));
        }
        Assert.Equal(began + Hour, _clock.GetUtcNow());
        Assert.Equal(0, _clock.StepsTaken);
    }

    [Fact]
    public void A_clock_that_runs_too_fast_is_followed_and_so_is_a_small_step_bit_by_bit()
    {
        for (int i = 0; i < 1000; i++)
        {
            _machine.Set += TimeSpan.FromMilliseconds(1);
            _machine.Advance(Second);
            Assert.Equal(_machine.GetUtcNow(), _clock.GetUtcNow());
        }
        _machine.Set += TimeSpan.FromSeconds(30);
        DateTimeOffset last = _clock.GetUtcNow();
        for (int i = 0; i < 600; i++)
        {
            _machine.Advance(Second);
            DateTimeOffset now = _clock.GetUtcNow();
            Assert.InRange((now - last).TotalSeconds, 1, 1.06);
            last = now;
        }
        Assert.Equal(_machine.GetUtcNow(), last);
        Assert.Empty(_told);
    }

    [Fact]
    public void Of_what_an_earlier_run_has_stamped_only_the_time_since_the_start_is_sure_for_ten_minutes()
    {
        DateTimeOffset earlier = _clock.GetUtcNow() - Hour;
        _machine.Advance(Second * 5);
        Assert.Equal(earlier, _clock.Ago(Hour + (Second * 5)));
        Assert.Equal(DateTimeOffset.MinValue, _clock.SureAgo(Second * 6));
        Assert.Equal(earlier + Hour, _clock.SureAgo(Second * 5));
        Go(SteadyClock.Trust);
        Assert.Equal(_clock.Ago(Hour), _clock.SureAgo(Hour));
        _machine.Set = Hour;
        Go(Second * 2);
        Assert.Equal(DateTimeOffset.MinValue, _clock.SureAgo(Hour));
        Assert.Equal(DateTimeOffset.MinValue, _clock.Ago(TimeSpan.MaxValue));
    }

    [Theory]
    [InlineData(-20_000)]
    [InlineData(5_000)]
    public void A_machine_that_starts_with_another_time_and_gets_the_right_one_later_makes_nothing_old(int days)
    {
        DateTimeOffset earlier = _machine.GetUtcNow();
        _machine.Set = TimeSpan.FromDays(days);
        var clock = new SteadyClock(_machine);
        DateTimeOffset made = clock.GetUtcNow();
        _machine.Set = TimeSpan.Zero;
        for (int i = 0; i < 700; i++)
        {
            _machine.Advance(Second);
            clock.GetUtcNow();
        }
        Assert.Equal(1, clock.StepsTaken);
        Assert.Equal(_machine.GetUtcNow(), clock.GetUtcNow());
        Assert.True(clock.SureAgo(Second * 701) <= made);
        Assert.True(clock.SureAgo(Second * 701) <= earlier);
        Assert.True(clock.SureAgo(Hour) <= earlier);
    }

    [Fact]
    public async Task Retention_deletes_nothing_young_when_the_clock_is_set_and_what_is_old_all_the_same()
    {
        await using var host = new JournalHost(options => options with { RetentionAge = TimeSpan.FromMinutes(30) });
        Journal journal = host.Open();
        host.AppendDurable(0, 100); // Several segments.
        host.Clock.Advance(TimeSpan.FromMinutes(1));
        foreach (TimeSpan set in new[] { Hour, -Hour, TimeSpan.FromDays(3000) })
        {
            host.Clock.Set = set;
            for (int i = 0; i < 8; i++)
            {
                host.Clock.Advance(Second);
                Look();
            }
            host.Clock.Set = TimeSpan.Zero;
            host.Clock.Advance(Second);
            Look();
        }
        Assert.Equal(0, journal.StartOffset);

        host.Clock.Set = Hour; // For good.
        for (int i = 0; i < 25 * 60; i++)
        {
            host.Clock.Advance(Second);
            Look();
        }
        host.AppendDurable(100, 1);
        Assert.Equal(0, journal.StartOffset);
        host.Clock.Advance(TimeSpan.FromMinutes(5));
        Look();
        Assert.InRange(journal.StartOffset, 1, 100);

        void Look() => ((IHousekept)journal).Look(default);
    }

    [Fact]
    public async Task A_start_with_a_clock_that_is_ahead_deletes_nothing_before_that_has_lasted()
    {
        await using var host = new JournalHost(options => options with { RetentionAge = Hour });
        host.Open();
        host.AppendDurable(0, 100);
        await host.CloseAsync();
        host.Clock.Set = Hour * 1000;
        using var started = new JournalEnvironment(host.EnvironmentOptions, host.Files);
        await using Journal journal = Journal.Open(host.Options, started, null, host);
        Look();
        Assert.Equal(0, journal.StartOffset);
        host.Clock.Advance(SteadyClock.Trust + Second);
        Look();
        Assert.Equal(100, journal.StartOffset);

        void Look() => ((IHousekept)journal).Look(default);
    }

    /// <summary>So much time passes, and the clock is asked now and then.</summary>
    private void Go(TimeSpan time)
    {
        for (TimeSpan left = time; left > TimeSpan.Zero; left -= Second)
        {
            _machine.Advance(Second);
            _clock.GetUtcNow();
        }
    }
}
