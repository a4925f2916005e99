using System.Diagnostics;
using LightQ.Client;
using Xunit;

namespace LightQ.DashboardTests.Figures;

/// <summary>How long the broker takes to acknowledge messages that come at a rate.</summary>
internal static class AckLatency
{
    private const int PerSecond = 1000,
        Size = 512;

    /// <summary>Publishes for a time.</summary>
    /// <returns>The median, and what 99 of 100 messages took at most.</returns>
    public static async Task<(TimeSpan Median, TimeSpan P99)> MeasureAsync(Producer producer, TimeSpan duration)
    {
        byte[] body = new byte[Size];
        int count = (int)(duration.TotalSeconds * PerSecond);
        var taken = new long[count];
        var acks = new Task[count];
        long begun = Stopwatch.GetTimestamp();
        for (int i = 0; i < count; i++)
        {
            TimeSpan early = Stopwatch.GetElapsedTime(Stopwatch.GetTimestamp(), begun + DueOf(i));
            if (early > TimeSpan.Zero)
                await Task.Delay(early + TimeSpan.FromMilliseconds(1));
            acks[i] = PublishAsync(i);
        }
        await Task.WhenAll(acks);
        Array.Sort(taken);
        return (TimeOf(0.5), TimeOf(0.99));

        async Task PublishAsync(int i)
        {
            long sent = Stopwatch.GetTimestamp();
            await producer.PublishAsync(body, cancellationToken: TestContext.Current.CancellationToken);
            taken[i] = Stopwatch.GetTimestamp() - sent;
        }

        static long DueOf(int i) => i * Stopwatch.Frequency / PerSecond;

        TimeSpan TimeOf(double share) => Stopwatch.GetElapsedTime(0, taken[(int)(share * (count - 1))]);
    }
}
