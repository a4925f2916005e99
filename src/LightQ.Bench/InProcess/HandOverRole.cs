using LightQ.Bench.Roles;

namespace LightQ.Bench.InProcess;

/// <summary>
/// The consumer's process. It ends with an error when the producer's is gone: without it there is no run to finish.
/// </summary>
internal static class HandOverRole
{
    public const string Name = "hand-over";

    /// <summary>The error that it ends with when the producer's process is gone.</summary>
    public const string Orphaned = "The producer's process is gone, and the run with it.";

    public static async Task RunAsync(RoleChannel parent, CancellationToken cancellationToken)
    {
        try
        {
            HandOverSpec spec = await parent.NextAsync(HandOverJson.Default.HandOverSpec);
            using HandOverLink link = HandOverLink.Open(spec);
            using var line = new CacheLine(spec.LineFile);
            using var consumer = new HandOverConsumer(spec, link, line);
            RoleChannel.Say(new RoleMessage { Event = RoleEvent.Ready });
            while (true)
            {
                HandOverTask task = await parent.NextAsync(HandOverJson.Default.HandOverTask);
                RoleChannel.Say(
                    await consumer.RunAsync(
                        task,
                        () => RoleChannel.Say(new RoleMessage { Event = RoleEvent.Ready }),
                        cancellationToken
                    )
                );
            }
        }
        catch (Exception e)
        {
            // Not hidden: the parent reports it and ends this process.
            parent.SayFailed(e);
        }
    }
}
