using System.Diagnostics;
using LightQ.Bench.Checks;
using LightQ.Bench.Figures;
using LightQ.Bench.Load;
using LightQ.Bench.Roles;

namespace LightQ.Bench.Sessions;

/// <summary>The consumer's process: one run after the other.</summary>
internal static class ConsumeRole
{
    public const string Name = "consume";

    public static async Task RunAsync(RoleChannel parent, CancellationToken cancellationToken)
    {
        while (true)
        {
            RunSpec spec = await parent.NextAsync(RunJson.Default.RunSpec);
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
                RoleChannel.Say(
                    RoleMessage.Of(check, spec.Messages) with
                    {
                        StartTicks = start,
                        LatencyUs = latency is null ? null : LatencyFigures.Of(latency),
                    }
                );
            }
            catch (Exception e)
            {
                // Not hidden: the parent reports it and ends this process.
                parent.SayFailed(e);
            }
        }
    }
}
