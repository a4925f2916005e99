using LightQ.Bench.Checks;
using LightQ.Bench.Figures;
using Xunit;

namespace LightQ.Tests.Bench.Checks;

/// <summary>A check that does not know the run yet begins with its first message and learns the size from it.</summary>
public sealed class DeliveryCheckTests
{
    [Fact]
    public void What_lies_before_the_first_message_is_skipped_and_not_counted()
    {
        var latency = new LatencyHistogram();
        DeliveryCheck check = DeliveryCheck.OfNextRun(2, latency);
        MessagePattern old = new(40),
            run = new(100);

        check.Take(old.Body(7, stamp: 1));
        check.Take("text that somebody published"u8);
        check.Take([]);
        Assert.False(check.HasBegun);
        check.Take(run.Body(0, stamp: 1000), received: 3000);
        check.Take(run.Body(1, stamp: 1000), received: 5000);

        Assert.True(check.IsComplete);
        Assert.Equal((3, 100, 2), (check.Skipped, check.Size, check.Ledger.Received));
        Assert.Equal((0, 1000), (check.Damaged, check.First.Stamp));
        Assert.Equal((2, 2000, 4000), (latency.Count, latency.Min, latency.Max));
    }

    [Fact]
    public void Once_begun_a_message_of_another_size_is_damaged()
    {
        DeliveryCheck check = DeliveryCheck.OfNextRun(2, new LatencyHistogram());
        check.Take(new MessagePattern(100).Body(0));
        check.Take(new MessagePattern(101).Body(1));

        Assert.Equal((1, 0), (check.Damaged, check.Skipped));
        Assert.False(check.IsComplete);
    }
}
