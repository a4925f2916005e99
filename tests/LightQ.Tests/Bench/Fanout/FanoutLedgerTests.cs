using System.Diagnostics;
using LightQ.Bench.Fanout;
using Xunit;

namespace LightQ.Tests.Bench.Fanout;

public sealed class FanoutLedgerTests
{
    private const int Publishers = 3,
        WarmUp = 2,
        Each = 5,
        Size = 200;

    private readonly FanoutBody _body = new("host", Size);
    private readonly FanoutLedger _ledger = new(Publishers, WarmUp, Each);

    [Fact]
    public void Every_message_counts_once_and_those_of_the_warm_up_have_no_entry()
    {
        for (int sequence = 0; sequence < WarmUp + Each; sequence++)
        {
            for (int publisher = 0; publisher < Publishers; publisher++)
                Take(publisher, sequence);
        }
        Assert.Equal(Publishers * (WarmUp + Each), _ledger.Taken);
        Assert.Equal((0, 0, 0), (_ledger.Duplicated, _ledger.Reordered, _ledger.Damaged));
        Assert.Equal(
            from publisher in Enumerable.Range(0, Publishers)
            from sequence in Enumerable.Range(WarmUp, Each)
            select (publisher, sequence),
            _ledger.Entries().Select(e => (e.Thread, e.Sequence))
        );
        Assert.All(_ledger.Entries(), e => Assert.True(e.Microseconds > 0));
    }

    [Fact]
    public void Messages_that_come_again_or_late_are_told_apart()
    {
        foreach (int sequence in new[] { 0, 1, 1, 2, 4, 3, 3, 4 })
            Take(0, sequence);

        Assert.Equal((3, 1, 0), (_ledger.Duplicated, _ledger.Reordered, _ledger.Damaged));
        Assert.Equal(5, _ledger.Taken);
        Assert.Equal([2, 3, 4], _ledger.Entries().Select(e => e.Sequence));
    }

    [Fact]
    public void What_was_not_sent_like_that_is_damaged()
    {
        byte[] sent = _body.Write(1, 3, Stopwatch.GetTimestamp()).ToArray();
        foreach (
            byte[] bytes in new[]
            {
                Changed(sent, Size - 1),
                Changed(sent, 22),
                Changed(sent, 20),
                sent[..^1],
                [.. sent, 0],
                [],
            }
        )
        {
            _ledger.Take(_body, bytes);
        }

        _ledger.Take(_body, _body.Write(Publishers, 3, 1));
        _ledger.Take(_body, _body.Write(-1, 3, 1));
        _ledger.Take(_body, _body.Write(1, WarmUp + Each, 1));
        _ledger.Take(_body, _body.Write(1, -1, 1));
        _ledger.Take(new FanoutBody("other", Size), sent);

        Assert.Equal((11, 0), (_ledger.Damaged, _ledger.Taken));
    }

    private static byte[] Changed(byte[] body, int at)
    {
        byte[] copy = [.. body];
        copy[at] ^= 1;
        return copy;
    }

    private void Take(int publisher, int sequence) =>
        _ledger.Take(_body, _body.Write(publisher, sequence, Stopwatch.GetTimestamp()));
}
