using LightQ.Broker.Replication;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.ClusterTests.Losses;

/// <summary>What an owner misses in its stream, by what the engine says of it.</summary>
public sealed class StreamLedgerTests
{
    private readonly ManualTime _time = new();
    private readonly StreamLedger _ledger;

    public StreamLedgerTests()
    {
        _ledger = new StreamLedger(_time);
        _ledger.Begin(10);
    }

    [Fact]
    public void A_stream_that_is_gone_short_or_without_its_front_is_missed_at_once()
    {
        Assert.Null(Find(first: 1, last: 10, entries: 10));
        Assert.Contains("no such stream", _ledger.FindLoss(_ledger.Stand, default)!, StringComparison.Ordinal);
        Assert.Contains("ends at entry 9", Find(first: 1, last: 9, entries: 9)!, StringComparison.Ordinal);
        Assert.Contains("begins at entry 3", Find(first: 3, last: 10, entries: 8)!, StringComparison.Ordinal);
        Assert.Contains("all of its 10 entries", Find(first: 11, last: 10, entries: 0)!, StringComparison.Ordinal);
    }

    [Fact]
    public void An_append_that_is_stored_after_the_question_is_not_missed()
    {
        (ulong, int) before = _ledger.Stand;
        _ledger.OnStored(11);
        Assert.Null(_ledger.FindLoss(before, Report(1, 10, 10)));
        Assert.NotNull(_ledger.FindLoss(_ledger.Stand, Report(1, 10, 10)));
    }

    [Fact]
    public void Entries_that_go_from_the_middle_are_missed_and_what_the_owner_purges_is_not()
    {
        Assert.Null(Find(1, 10, 8)); // The owner before has purged two.
        Assert.Null(Find(1, 10, 7)); // And once more when it ended.
        _time.Advance(TimeSpan.FromMinutes(1));
        Assert.Null(Find(1, 12, 9));
        Assert.Contains("1 entries were removed", Find(1, 12, 8)!, StringComparison.Ordinal);
        Assert.Null(Find(1, 12, 9)); // They are there again: a replica was behind.
        (ulong, int) before = _ledger.Stand;
        _ledger.BeginPurge();
        Assert.Null(Find(1, 12, 5));
        _ledger.EndPurge(4);
        Assert.Null(_ledger.FindLoss(before, Report(1, 12, 3))); // Said before or after the purge: nobody knows.
        Assert.Null(Find(1, 12, 5));
        Assert.NotNull(Find(1, 12, 4));
    }

    [Fact]
    public void A_purge_whose_outcome_is_not_known_has_the_entries_counted_anew()
    {
        _time.Advance(TimeSpan.FromMinutes(1));
        Assert.Null(Find(1, 10, 10));
        _ledger.BeginPurge();
        _ledger.EndPurge(removed: null);
        Assert.Null(Find(1, 10, 6));
        Assert.NotNull(Find(1, 10, 5));
    }

    private static StreamReport Report(ulong first, ulong last, ulong entries) =>
        new(true, new StreamBounds(first, last), entries, Altered: null);

    private string? Find(ulong first, ulong last, ulong entries) =>
        _ledger.FindLoss(_ledger.Stand, Report(first, last, entries));
}
