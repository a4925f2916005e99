using LightQ.Cli.Output;
using LightQ.Client;

namespace LightQ.Cli.Reference;

/// <summary>
/// Ends what is measured as soon as a connection is lost: the client would connect again, and the figures would say
/// nothing.
/// </summary>
internal sealed class LostConnection
{
    private readonly TaskCompletionSource _lost = new(TaskCreationOptions.RunContinuationsAsynchronously);

    /// <summary>Watches one more client.</summary>
    public void Watch(LightQClient client) =>
        client.ConnectionStateChanged += (_, change) =>
        {
            if (change.State == ConnectionState.Reconnecting)
            {
                _lost.TrySetException(
                    new CommandException(
                        ExitCode.Unavailable,
                        $"The connection to the broker was "
                            + $"lost{(change.Reason is { } reason ? $": {reason.Message}" : ".")}"
                    )
                );
            }
        };

    /// <summary>Waits for something, but not longer than the connections last.</summary>
    public async Task GuardAsync(Task work) => await await Task.WhenAny(work, _lost.Task);
}
