using LightQ.Bench.Fanout;
using LightQ.Bench.Idle;
using LightQ.Bench.InProcess;
using LightQ.Bench.Roles;

namespace LightQ.Cli.Bench;

/// <summary>
/// The runtime settings of a process that is a thousand clients, or two threads that hand messages over.
/// </summary>
/// <remarks>
/// Clients have what a broker has (<see cref="RuntimeSettings.Sockets"/>). Beside two threads that spin, each pool
/// thread that does so before it sleeps stops one of them: 130 times at the beginning of a run, and as often at its
/// end.
/// </remarks>
internal static class BenchRuntime
{
    /// <summary>What a process with these arguments is to have.</summary>
    public static IReadOnlyDictionary<string, string> SettingsFor(string[] args) =>
        args switch
        {
            [RoleProcess.Command, FanoutRole.Name or IdleRole.Name] => RuntimeSettings.Sockets,
            ["bench", "inprocess", ..] or [RoleProcess.Command, HandOverRole.Name, ..] => RuntimeSettings.NoSpinning,
            _ => RuntimeSettings.None,
        };
}
