using LightQ.Bench.Checks;
using Xunit;

namespace LightQ.Tests.Bench.Checks;

/// <summary>The account that makes a bench fail.</summary>
public sealed class SequenceLedgerTests
{
    [Theory]
    [InlineData(new long[] { 0, 1, 2, 3 }, 0, 0, 0)]
    [InlineData(new long[] { 0, 1, 3 }, 1, 0, 0)]
    [InlineData(new long[] { 0, 1, 2 }, 1, 0, 0)]
    [InlineData(new long[] { 0, 1, 1, 2, 3 }, 0, 1, 0)]
    [InlineData(new long[] { 0, 2, 1, 3 }, 0, 0, 1)]
    [InlineData(new long[] { 3, 2, 1, 0 }, 0, 0, 3)]
    [InlineData(new long[] { 3, 1, 1, 0 }, 1, 1, 2)]
    [InlineData(new long[0], 4, 0, 0)]
    public void It_tells_what_is_lost_repeated_and_late_of_four(
        long[] sequences,
        long lost,
        long duplicated,
        long reordered
    )
    {
        var ledger = new SequenceLedger();
        foreach (long sequence in sequences)
            ledger.Take(sequence);

        Assert.Equal((lost, duplicated, reordered), (ledger.Lost(4), ledger.Duplicated, ledger.Reordered));
    }

    [Fact]
    public void A_body_with_one_wrong_byte_is_damaged()
    {
        var pattern = new MessagePattern(100);
        for (int at = 16; at < 100; at++)
        {
            byte[] body = pattern.Body(5).ToArray();
            body[at] ^= 1;
            var check = new DeliveryCheck(100, sent: 10);
            check.Take(body);
            Assert.Equal((1, 0), (check.Damaged, check.Ledger.Received));
        }
    }

    [Fact]
    public void A_check_is_complete_when_every_message_came_whatever_the_order()
    {
        var pattern = new MessagePattern(64);
        var check = new DeliveryCheck(64, sent: 3);
        foreach (long sequence in new long[] { 2, 0, 0 })
            check.Take(pattern.Body(sequence));
        Assert.False(check.IsComplete);

        check.Take(pattern.Body(1));

        Assert.True(check.IsComplete);
        Assert.Equal((4, 1, 2), (check.Taken, check.Ledger.Duplicated, check.Ledger.Reordered));
    }
}
