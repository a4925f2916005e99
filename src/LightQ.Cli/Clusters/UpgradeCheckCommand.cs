using System.CommandLine;
using LightQ.Cli.Options;
using LightQ.Cli.Output;
using LightQ.Client.Administration;

namespace LightQ.Cli.Clusters;

/// <summary>
/// <c>lightq cluster upgrade-check</c>: says whether the next broker can be stopped, in a rolling restart.
/// </summary>
internal static class UpgradeCheckCommand
{
    public static BrokerCommand Create()
    {
        Argument<string?> node = new("NODE")
        {
            Description = "The broker that is to be stopped next; without it, any one.",
            Arity = ArgumentArity.ZeroOrOne,
        };
        var command = new BrokerCommand(
            "upgrade-check",
            "Say whether a broker can be stopped now to be updated or restarted: the others are heard of, each "
                + "partition has a leader, and nothing is wrong. The exit code is 4 while it should not be.",
            "lightq cluster upgrade-check b1"
        )
        {
            node,
        };
        command.Run(async call =>
        {
            ClusterInfo cluster = await call.Client.Cluster.GetAsync(null, call.Cancellation);
            UpgradeView view = UpgradeCheck.Judge(cluster, call.Get(node));
            call.Answer(view, ClustersJson.Default.UpgradeView, Write);
            return view.Problems.Count != 0 ? ExitCode.Warnings : ExitCode.Ok;
        });
        return command;
    }

    private static void Write(UpgradeView view)
    {
        foreach (string problem in view.Problems)
            CommandConsole.Line($"Not now: {problem}.");
        foreach (string note in view.Notes)
            CommandConsole.Line($"Note: {note}.");
        if (view.Problems.Count == 0)
            CommandConsole.Line($"{view.Node ?? "One broker"} can be stopped.");
    }
}
