using LightQ.Scheduling;
using LightQ.Storage;
using Xunit;

namespace LightQ.Tests.Storage;

/// <summary>When housekeeping looks at a journal: never without a reason.</summary>
public sealed class JournalHousekeepingTests
{
    private static readonly TimeSpan Age = TimeSpan.FromMinutes(40);

    [Fact]
    public async Task A_journal_that_nobody_uses_is_never_looked_at()
    {
        await using var host = new JournalHost(options => options with { RetentionAge = Age });
        host.Open();
        Assert.Null(Look(host));
    }

    [Fact]
    public async Task Messages_that_are_kept_for_longer_than_there_were_clocks_expire_never()
    {
        await using var host = new JournalHost(options =>
            options with
            {
                RetentionAge = TimeSpan.FromDays(3000 * 365.0),
            }
        );
        Journal journal = host.Open();
        host.AppendDurable(0, 100);
        host.Wait(() => journal.IsIdle);
        for (int looks = 0; looks < 100; looks++)
            Look(host);
        Assert.Equal(0, journal.StartOffset);
    }

    [Fact]
    public async Task A_journal_in_use_is_looked_at_until_it_rests()
    {
        await using var host = new JournalHost();
        Journal journal = host.Open();
        host.AppendDurable(0, 100);
        host.Wait(() => journal.IsIdle);
        TimeSpan interval = host.EnvironmentOptions.CheckpointInterval;
        int looks = 0;
        while (Look(host) == TimeSpan.Zero) // Its newest file is open.
            Assert.InRange(++looks, 1, 100);
        Assert.Equal(interval, Look(host)); // Until the checkpoint.
        host.Clock.Advance(interval);
        Assert.Equal(interval, Look(host)); // It was written: until the log rests.
        host.Clock.Advance(interval);
        Assert.Null(Look(host));

        using JournalReader reader = host.Reader(99);
        Assert.Equal(ReadResult.Run, host.Next(reader, 4096, out _));
        reader.Advance();
        looks = 0;
        while (Look(host) == TimeSpan.Zero) // The reader has opened a file.
            Assert.InRange(++looks, 1, 100);
        Assert.InRange(looks, 1, 100);
        Assert.Null(Look(host));
    }

    [Fact]
    public async Task A_journal_at_rest_is_looked_at_when_something_of_it_expires()
    {
        await using var host = new JournalHost(options => options with { RetentionAge = Age });
        Journal journal = host.Open();
        host.AppendDurable(0, 100); // Several segments.
        TimeSpan between = TimeSpan.FromMinutes(10);
        host.Clock.Advance(between);
        host.AppendDurable(100, 1);
        await host.CloseAsync();
        journal = host.Open();

        Assert.Equal(Age - between, Look(host));
        host.Clock.Advance(Age - between + TimeSpan.FromSeconds(1));
        Assert.Equal(between - TimeSpan.FromSeconds(1), Look(host));
        Assert.InRange(journal.StartOffset, 1, 100);
        host.Clock.Advance(between);
        Assert.Null(Look(host));
        Assert.Equal(101, journal.StartOffset);
    }

    [Fact]
    public async Task What_has_expired_and_must_be_kept_is_looked_at_now_and_then_and_goes_when_it_may()
    {
        long keptFrom = 0;
        await using var host = new JournalHost(options =>
            options with
            {
                RetentionAge = Age,
                KeepFrom = (_, _) => keptFrom,
            }
        );
        host.Open();
        host.AppendDurable(0, 100); // Several segments.
        await host.CloseAsync();
        Journal journal = host.Open();
        Assert.Equal(Age, Look(host));

        host.Clock.Advance(Age + TimeSpan.FromSeconds(1));
        Assert.Equal(TimeSpan.FromMinutes(1), Look(host));
        Assert.Equal(0, journal.StartOffset);
        keptFrom = long.MaxValue;
        Assert.Null(Look(host));
        Assert.Equal(100, journal.StartOffset);
    }

    [Fact]
    public async Task A_new_retention_is_looked_at_without_anything_appended()
    {
        await using var host = new JournalHost();
        Journal journal = host.Open();
        host.AppendDurable(0, 100);
        await host.CloseAsync();
        journal = host.Open();
        Assert.Null(Look(host));
        journal.SetRetention(4096, null);
        host.RunHousekeeping(); // Looks at what asked for it.
        Assert.NotEqual(0, journal.StartOffset);
    }

    private static TimeSpan? Look(JournalHost host) => ((IHousekept)host.Journal).Look(host.Clock.GetUtcNow());
}
