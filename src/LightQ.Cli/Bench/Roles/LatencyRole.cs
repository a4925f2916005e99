using System.Diagnostics;
using LightQ.Cli.Bench.Load;
using LightQ.Cli.Bench.Report;

namespace LightQ.Cli.Bench.Roles;

/// <summary>Publisher and subscriber in one process, so that one clock stamps both ends; open loop.</summary>
internal static class LatencyRole
{
    public static async Task RunAsync(CancellationToken cancellationToken)
    {
        var parent = new RoleChannel();
        while (true)
        {
            RunSpec spec = await parent.NextRunAsync();
            try
            {
                RoleChannel.Say(await MeasureAsync(spec, cancellationToken));
            }
            catch (Exception e)
            {
                // Not hidden: the parent reports it and ends this process.
                RoleChannel.SayFailed(e);
            }
        }
    }

    private static async Task<RoleMessage> MeasureAsync(RunSpec spec, CancellationToken cancellationToken)
    {
        var histogram = new LatencyHistogram();
        var check = new DeliveryCheck(spec.Size, spec.Messages, histogram);
        await using ILoadConsumer consumer = LoadFactory.CreateConsumer(spec);
        using var patience = new ConsumePatience(check, cancellationToken);
        Task consuming = consumer.ConsumeAsync(check, patience.Token);
        await consumer.Subscribed;
        await using ISinglePublisher publisher = await LoadFactory.CreatePublisherAsync(spec);
        Task<double> publishing = Task.Factory.StartNew(
            () => Publish(publisher, spec), cancellationToken, TaskCreationOptions.LongRunning, TaskScheduler.Default);
        await patience.WaitAsync(consuming);
        double rate = await publishing;
        return ConsumeRole.Result(check, spec.Messages) with { LatencyUs = LatencyFigures.Of(histogram), ActualRate = rate };
    }

    /// <returns>Messages a second.</returns>
    private static double Publish(ISinglePublisher publisher, RunSpec spec)
    {
        var pattern = new MessagePattern(spec.Size);
        var pacer = new Pacer(spec.Rate);
        long start = Stopwatch.GetTimestamp();
        for (long i = 0; i < spec.Messages; i++)
        {
            long due = pacer.WaitFor(i);
            long stamp = i < spec.WarmUpMessages ? 0 : spec.StampActual ? Stopwatch.GetTimestamp() : due;
            publisher.Send(pattern.Body(i, stamp));
        }
        return spec.Messages / Stopwatch.GetElapsedTime(start).TotalSeconds;
    }
}
