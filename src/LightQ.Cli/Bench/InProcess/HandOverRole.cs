using System.Text.Json;
using LightQ.Cli.Bench.Roles;
using LightQ.Cli.Output;

namespace LightQ.Cli.Bench.InProcess;

/// <summary>The consumer's process. It ends with an error when the producer's is gone: without it there is no run to finish.</summary>
internal static class HandOverRole
{
    private const string Orphaned = "The producer's process is gone, and the run with it.";

    public static async Task RunAsync(CancellationToken cancellationToken)
    {
        var parent = new RoleChannel(Orphaned);
        try
        {
            HandOverSpec spec = JsonSerializer.Deserialize(await parent.NextAsync(), CliJson.Default.HandOverSpec)!;
            using HandOverLink link = HandOverLink.Open(spec);
            using var line = new CacheLine(spec.LineFile);
            using var consumer = new HandOverConsumer(spec, link, line);
            RoleChannel.Say(new RoleMessage { Event = RoleEvent.Ready });
            while (true)
            {
                HandOverTask task = JsonSerializer.Deserialize(await parent.NextAsync(), CliJson.Default.HandOverTask)!;
                RoleChannel.Say(await consumer.RunAsync(task, () => RoleChannel.Say(new RoleMessage { Event = RoleEvent.Ready }), cancellationToken));
            }
        }
        catch (Exception e)
        {
            // Not hidden: the parent reports it and ends this process.
            RoleChannel.SayFailed(e);
        }
    }
}
