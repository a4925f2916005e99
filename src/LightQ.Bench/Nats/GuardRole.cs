using System.Diagnostics;
using LightQ.Bench.Processes;

namespace LightQ.Bench.Nats;

/// <summary>Runs a foreign program and ends it when the parent is gone, which that program would not notice.</summary>
internal static class GuardRole
{
    public const string Name = "guard";

    public static async Task<int> RunAsync(IReadOnlyList<string> command, CancellationToken cancellationToken)
    {
        using var process =
            Process.Start(new ProcessStartInfo(command[0], command.Skip(1)) { RedirectStandardInput = true })
            ?? throw new BenchException(BenchFailure.Failed, $"{command[0]} did not start.");
        using var ended = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        ParentLink.OnEnd(ended.Cancel);
        await process.WaitForExitAsync(ended.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        if (process.HasExited)
            return process.ExitCode;
        process.Kill();
        return 0;
    }
}
