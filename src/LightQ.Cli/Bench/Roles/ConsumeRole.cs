using System.Diagnostics;
using LightQ.Cli.Bench.Load;
using LightQ.Cli.Bench.Report;

namespace LightQ.Cli.Bench.Roles;

/// <summary>The consumer's process: one run after the other.</summary>
internal static class ConsumeRole
{
    public static async Task RunAsync(CancellationToken cancellationToken)
    {
        var parent = new RoleChannel();
        while (true)
        {
            RunSpec spec = await parent.NextRunAsync();
            try
            {
                await using ILoadConsumer consumer = LoadFactory.CreateConsumer(spec);
                LatencyHistogram? latency = spec.MeasureLatency ? new LatencyHistogram() : null;
                var check = new DeliveryCheck(spec.Size, spec.Messages, latency);
                using var patience = new ConsumePatience(check, cancellationToken);
                long start = Stopwatch.GetTimestamp();
                Task consuming = consumer.ConsumeAsync(check, patience.Token);
                await consumer.Subscribed;
                RoleChannel.Say(new RoleMessage { Event = RoleEvent.Ready });
                await patience.WaitAsync(consuming);
                RoleChannel.Say(Result(check, spec.Messages) with { StartTicks = start, LatencyUs = latency is null ? null : LatencyFigures.Of(latency) });
            }
            catch (Exception e)
            {
                // Not hidden: the parent reports it and ends this process.
                RoleChannel.SayFailed(e);
            }
        }
    }

    /// <summary>The account of a run.</summary>
    public static RoleMessage Result(DeliveryCheck check, long sent) => new()
    {
        Event = RoleEvent.Done,
        EndTicks = check.LastTicks,
        Messages = check.Taken,
        Lost = check.Ledger.Lost(sent),
        Duplicated = check.Ledger.Duplicated,
        Reordered = check.Ledger.Reordered,
        Damaged = check.Damaged,
    };
}
