using System.Text.Json;
using LightQ.Cli.Bench.Roles;
using LightQ.Cli.Output;

namespace LightQ.Cli.Bench.Fanout;

/// <summary>A client process of a fan-out: publishers, subscribers or idle connections, as the parent says.</summary>
internal static class FanoutRole
{
    public const string Name = "fanout";

    public static async Task RunAsync(CancellationToken cancellationToken)
    {
        var parent = new RoleChannel();
        FanoutSpec spec = JsonSerializer.Deserialize(await parent.NextAsync(), CliJson.Default.FanoutSpec)!;
        try
        {
            if (spec.Idle > 0)
                await HoldAsync(parent, spec, cancellationToken);
            else if (spec.Subscribers > 0)
                await FanoutSubscribeRole.RunAsync(parent, spec, cancellationToken);
            else
                await FanoutPublishRole.RunAsync(parent, spec, cancellationToken);
        }
        catch (Exception e)
        {
            // Not hidden: the parent reports it and ends this process.
            RoleChannel.SayFailed(e);
        }
        // The connections stay until the parent lets go: its end of the line ends this process.
        await parent.NextAsync();
    }

    private static async Task HoldAsync(RoleChannel parent, FanoutSpec spec, CancellationToken cancellationToken)
    {
        using IdleConnections connections = await IdleConnections.OpenAsync(spec, cancellationToken);
        RoleChannel.Say(new RoleMessage { Event = RoleEvent.Ready });
        while (true)
        {
            await parent.NextAsync();
            (int open, string? firstEnd) = connections.Count();
            RoleChannel.Say(new RoleMessage { Event = RoleEvent.Done, Messages = open, Error = firstEnd });
        }
    }
}
