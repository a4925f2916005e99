using System.Diagnostics;
using LightQ.Bench.Load;
using LightQ.Bench.Roles;

namespace LightQ.Bench.Sessions;

/// <summary>The producer's process: one run after the other.</summary>
internal static class ProduceRole
{
    public const string Name = "produce";
    public const string Go = "go";

    public static async Task RunAsync(RoleChannel parent, CancellationToken cancellationToken)
    {
        while (true)
        {
            RunSpec spec = await parent.NextAsync(RunJson.Default.RunSpec);
            try
            {
                await using ILoadProducer producer = await LoadFactory.CreateProducerAsync(spec);
                RoleChannel.Say(new RoleMessage { Event = RoleEvent.Ready });
                if (await parent.NextAsync() != Go)
                    continue;
                long start = Stopwatch.GetTimestamp();
                await producer.ProduceAsync(spec.Messages, cancellationToken);
                RoleChannel.Say(
                    new RoleMessage
                    {
                        Event = RoleEvent.Done,
                        StartTicks = start,
                        EndTicks = Stopwatch.GetTimestamp(),
                        Messages = spec.Messages,
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
