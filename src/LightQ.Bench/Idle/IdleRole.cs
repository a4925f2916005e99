using LightQ.Bench.Roles;

namespace LightQ.Bench.Idle;

/// <summary>A process that holds idle connections, and counts those that are open whenever the parent asks.</summary>
internal static class IdleRole
{
    public const string Name = "idle";

    public static async Task RunAsync(RoleChannel parent, CancellationToken cancellationToken)
    {
        IdleSpec spec = await parent.NextAsync(IdleJson.Default.IdleSpec);
        try
        {
            using IdleConnections connections = await IdleConnections.OpenAsync(spec, cancellationToken);
            RoleChannel.Say(new RoleMessage { Event = RoleEvent.Ready });
            while (true)
            {
                await parent.NextAsync();
                (int open, string? firstEnd) = connections.Count();
                RoleChannel.Say(
                    new RoleMessage
                    {
                        Event = RoleEvent.Done,
                        Messages = open,
                        Error = firstEnd,
                    }
                );
            }
        }
        catch (Exception e)
        {
            // Not hidden: the parent reports it and ends this process.
            parent.SayFailed(e);
        }
        await parent.NextAsync();
    }
}
