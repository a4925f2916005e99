using LightQ.Bench.Fanout;
using LightQ.Cli.Bench.Report;
using Xunit;

namespace LightQ.Tests.Cli.Bench;

public sealed class FanoutFiguresTests
{
    [Theory]
    [InlineData(200, 0, true, "")]
    [InlineData(199, 0, false, "199 of 200 deliveries were settled")]
    [InlineData(201, 0, false, "201 of 200 deliveries were settled")]
    [InlineData(200, 5.5, false, "5.5 % fewer")]
    [InlineData(200, -1, false, "entries")]
    public void A_run_is_sound_when_every_delivery_is_settled_and_in_the_log(
        long settled,
        double lossPercent,
        bool isSound,
        string says
    )
    {
        FanoutResult result = SampleResults.FannedOut(rate: 20) with
        {
            Fanout = new FanoutFigures
            {
                Publishers = 2,
                Subscribers = 20,
                Published = 10,
                Settled = settled,
                Entries = 100,
                LossPercent = lossPercent,
            },
        };

        string[] failures = [.. new FanoutView().Failures([result])];

        Assert.Equal(isSound, result.IsSound);
        Assert.Contains(says, string.Concat(failures), StringComparison.Ordinal);
        Assert.Equal(isSound, failures.Length == 0);
        Assert.False((result with { Lost = 1 }).IsSound);
    }
}
