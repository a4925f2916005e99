using LightQ.Bench.Figures;
using LightQ.Bench.InProcess;
using LightQ.Cli;
using LightQ.Cli.Bench;
using LightQ.Cli.Servers;
using Xunit;

namespace LightQ.Tests.Bench.InProcess;

/// <summary>What an in-process bench hands over, and how it counts what is late.</summary>
public sealed class HandOverTests
{
    private const double LateSharePercent = 2;

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    public async Task The_line_carries_every_message_of_a_schedule_and_goes_back_and_forth_behind_it()
    {
        using var line = new CacheLine(file: null);
        var histogram = new LatencyHistogram();

        await BothAsync(
            () => line.Send(new SendPlan(1000, 1_000_000), Cancelled),
            () => line.Receive(1000, histogram, Cancelled)
        );
        LatencyHistogram trips = new();
        await BothAsync(() => trips = line.Ping(Cancelled), () => line.Echo(Cancelled));
        await BothAsync(
            () => line.Send(new SendPlan(500, double.PositiveInfinity), Cancelled),
            () => line.Receive(500, histogram, Cancelled)
        );

        Assert.Equal((1500, 1000), (histogram.Count, trips.Count));
        Assert.True(histogram.Min >= 0 && histogram.Max > 0);
    }

    [Fact]
    public void Late_is_what_took_20_us_or_longer()
    {
        var histogram = new LatencyHistogram();
        for (int i = 0; i < 98; i++)
            histogram.Record(19_999);
        histogram.Record(20_000);
        histogram.Record(5_000_000);

        Assert.Equal(LateSharePercent, LatencyFigures.OfHandOvers(histogram).LaterThan20UsPercent);
        Assert.Null(LatencyFigures.Of(histogram).LaterThan20UsPercent);
    }

    [Fact]
    public void The_share_of_several_runs_is_the_median_runs_or_none()
    {
        LatencyFigures[] runs =
        [
            new() { LaterThan20UsPercent = 1 },
            new() { LaterThan20UsPercent = 40 },
            new() { LaterThan20UsPercent = LateSharePercent },
        ];

        Assert.Equal(LateSharePercent, LatencyFigures.MedianOf(runs).LaterThan20UsPercent);
        Assert.Null(LatencyFigures.MedianOf([.. runs, new LatencyFigures()]).LaterThan20UsPercent);
    }

    [Fact]
    public void A_histogram_that_was_cleared_knows_nothing_of_the_run_before()
    {
        var histogram = new LatencyHistogram();
        histogram.Record(5_000_000);

        histogram.Clear();
        histogram.Record(100);

        Assert.Equal(
            (1, 100, 100, 100, 0),
            (histogram.Count, histogram.Min, histogram.Max, histogram.Percentile(100), histogram.CountFrom(101))
        );
    }

    [Fact]
    public void No_pool_thread_spins_beside_the_two_that_hand_over()
    {
        Assert.Equal(
            "0",
            BenchRuntime.SettingsFor(["bench", "inprocess", "--runs", "3"])[RuntimeSettings.PoolSpinLimit]
        );
        Assert.Equal("0", BenchRuntime.SettingsFor(["bench-role", "hand-over"])[RuntimeSettings.PoolSpinLimit]);
        Assert.Equal("0", BrokerRuntime.SettingsFor(["server"])[RuntimeSettings.PoolSpinLimit]);
        Assert.Empty(BenchRuntime.SettingsFor(["bench", "throughput"]));
        Assert.Empty(BenchRuntime.SettingsFor(["server"]));
        Assert.Empty(BrokerRuntime.SettingsFor(["server", "stop"]));
        Assert.Empty(BrokerRuntime.SettingsFor(["bench", "inprocess"]));
    }

    private static Task BothAsync(Action one, Action other) =>
        Task.WhenAll(
            Task.Factory.StartNew(one, Cancelled, TaskCreationOptions.LongRunning, TaskScheduler.Default),
            Task.Factory.StartNew(other, Cancelled, TaskCreationOptions.LongRunning, TaskScheduler.Default)
        );
}
