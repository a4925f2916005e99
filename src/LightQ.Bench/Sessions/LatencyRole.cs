using System.Diagnostics;
using LightQ.Bench.Checks;
using LightQ.Bench.Figures;
using LightQ.Bench.Load;
using LightQ.Bench.Roles;

namespace LightQ.Bench.Sessions;

/// <summary>Publisher and subscriber in one process, so that one clock stamps both ends; open loop.</summary>
internal static class LatencyRole
{
    public const string Name = "latency";

    public static async Task RunAsync(RoleChannel parent, CancellationToken cancellationToken)
    {
        while (true)
        {
            RunSpec spec = await parent.NextAsync(RunJson.Default.RunSpec);
            try
            {
                RoleChannel.Say(await MeasureAsync(spec, cancellationToken));
            }
            catch (Exception e)
            {
                // Not hidden: the parent reports it and ends this process.
                parent.SayFailed(e);
            }
        }
    }

    private static async Task<RoleMessage> MeasureAsync(RunSpec spec, CancellationToken cancellationToken)
    {
        var histogram = new LatencyHistogram(
            keep: spec.HistogramFile is null ? 0 : (int)(spec.Messages - spec.WarmUpMessages)
        );
        var check = new DeliveryCheck(spec.Size, spec.Messages, histogram);
        await using ILoadConsumer consumer = LoadFactory.CreateConsumer(spec);
        using var patience = new ConsumePatience(check, cancellationToken);
        Task consuming = consumer.ConsumeAsync(check, patience.Token);
        await consumer.Subscribed;
        await using ISinglePublisher publisher = await LoadFactory.CreatePublisherAsync(spec);
        TimeSpan? publishTrip = publisher is IRoundTrip p ? await p.PingAsync(cancellationToken) : null;
        TimeSpan? subscribeTrip = consumer is IRoundTrip c ? await c.PingAsync(cancellationToken) : null;
        Task<(double Rate, PublishTimes Times)> publishing = Task.Factory.StartNew(
            () => Publish(publisher, spec),
            cancellationToken,
            TaskCreationOptions.LongRunning,
            TaskScheduler.Default
        );
        await patience.WaitAsync(consuming);
        (double rate, PublishTimes times) = await publishing;
        if (spec.HistogramFile is not null)
            HistogramFiles.Write(spec.HistogramFile, histogram);
        return RoleMessage.Of(check, spec.Messages) with
        {
            LatencyUs = LatencyFigures.Of(histogram),
            ActualRate = rate,
            LatencyRun =
                publishTrip is { } there && subscribeTrip is { } here
                    ? Describe(histogram, check, times) with
                    {
                        PublishRoundTripUs = there.TotalMicroseconds,
                        SubscribeRoundTripUs = here.TotalMicroseconds,
                    }
                    : null,
        };
    }

    private static LatencyRun Describe(LatencyHistogram histogram, DeliveryCheck check, PublishTimes times) =>
        new()
        {
            PercentilesUs = [.. LatencyRun.Percentiles.Select(p => histogram.Percentile(p) / 1000.0)],
            MinUs = histogram.Min / 1000.0,
            FirstSentUs = Stopwatch.GetElapsedTime(times.Begin, times.FirstSent).TotalMicroseconds,
            LastSentUs = Stopwatch.GetElapsedTime(times.Begin, times.LastSent).TotalMicroseconds,
            LastReceivedUs = Stopwatch.GetElapsedTime(times.Begin, check.LastTicks).TotalMicroseconds,
            Messages = histogram.Count,
        };

    /// <returns>Messages a second, and when what was measured was sent.</returns>
    private static (double Rate, PublishTimes Times) Publish(ISinglePublisher publisher, RunSpec spec)
    {
        var pattern = new MessagePattern(spec.Size);
        var pacer = new Pacer(spec.Rate);
        long start = Stopwatch.GetTimestamp(),
            firstSent = 0;
        for (long i = 0; i < spec.Messages; i++)
        {
            long due = pacer.WaitFor(i);
            long stamp =
                i < spec.WarmUpMessages ? 0
                : spec.StampActual ? Stopwatch.GetTimestamp()
                : due;
            publisher.Send(pattern.Body(i, stamp));
            if (i == spec.WarmUpMessages)
                firstSent = Stopwatch.GetTimestamp();
        }
        long end = Stopwatch.GetTimestamp();
        return (
            spec.Messages / Stopwatch.GetElapsedTime(start, end).TotalSeconds,
            new PublishTimes(pacer.DueOf(spec.WarmUpMessages), firstSent, end)
        );
    }

    /// <summary>
    /// Stopwatch ticks: when the first measured message was due, when it was sent, and when the last one was.
    /// </summary>
    private readonly record struct PublishTimes(long Begin, long FirstSent, long LastSent);
}
