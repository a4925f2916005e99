using LightQ.Bench.Fanout;
using LightQ.Bench.Idle;
using LightQ.Bench.InProcess;
using LightQ.Bench.Nats;
using LightQ.Bench.Relay;
using LightQ.Bench.Roles;
using LightQ.Bench.Sessions;

namespace LightQ.Bench;

/// <summary>
/// The parts of a bench that run in processes of their own: a bench starts each as <c>lightq bench-role NAME</c>.
/// </summary>
internal static class BenchRoles
{
    private static readonly Dictionary<string, Func<RoleChannel, CancellationToken, Task>> Talking = new()
    {
        [ProduceRole.Name] = ProduceRole.RunAsync,
        [ConsumeRole.Name] = ConsumeRole.RunAsync,
        [LatencyRole.Name] = LatencyRole.RunAsync,
        [HandOverRole.Name] = HandOverRole.RunAsync,
        [FanoutRole.Name] = FanoutRole.RunAsync,
        [IdleRole.Name] = IdleRole.RunAsync,
    };

    /// <summary>The roles that are told by their parent what to do, line by line.</summary>
    public static IEnumerable<string> Names => Talking.Keys;

    /// <summary>Plays one of <see cref="Names"/> until the parent is gone.</summary>
    /// <param name="name">Which.</param>
    /// <param name="explain">Describes an exception that ends a run to the parent: one line for people.</param>
    /// <param name="cancellationToken">Ends it before.</param>
    public static Task RunAsync(string name, Func<Exception, string> explain, CancellationToken cancellationToken) =>
        Talking[name]
            (new RoleChannel(explain, name == HandOverRole.Name ? HandOverRole.Orphaned : null), cancellationToken);

    /// <summary>Relays bytes until the parent is gone.</summary>
    /// <param name="certificateFile">What it shows on both ends; null for no TLS.</param>
    /// <param name="keyFile">The certificate's key; null when it is in the same file.</param>
    public static void Relay(string? certificateFile, string? keyFile) => RelayRole.Run(certificateFile, keyFile);

    /// <summary>Runs a foreign program until it ends or the parent is gone.</summary>
    /// <param name="command">The program and its arguments.</param>
    /// <param name="cancellationToken">Ends it before.</param>
    /// <returns>The program's exit code.</returns>
    public static Task<int> GuardAsync(IReadOnlyList<string> command, CancellationToken cancellationToken) =>
        GuardRole.RunAsync(command, cancellationToken);
}
