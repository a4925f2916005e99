using LightQ.Bench.Roles;

namespace LightQ.Bench.Fanout;

/// <summary>A client process of a fan-out: publishers or subscribers, as the parent says.</summary>
internal static class FanoutRole
{
    public const string Name = "fanout";

    public static async Task RunAsync(RoleChannel parent, CancellationToken cancellationToken)
    {
        FanoutSpec spec = await parent.NextAsync(FanoutJson.Default.FanoutSpec);
        try
        {
            if (spec.Subscribers > 0)
                await FanoutSubscribeRole.RunAsync(parent, spec, cancellationToken);
            else
                await FanoutPublishRole.RunAsync(parent, spec, cancellationToken);
        }
        catch (Exception e)
        {
            // Not hidden: the parent reports it and ends this process.
            parent.SayFailed(e);
        }
        // The connections stay until the parent closes standard input, which ends this process.
        await parent.NextAsync();
    }
}
