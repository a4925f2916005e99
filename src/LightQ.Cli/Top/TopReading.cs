using LightQ.Client;

namespace LightQ.Cli.Top;

/// <summary>Readings of a view that come to an end, also of a broker that does not answer.</summary>
internal static class TopReading
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(10);

    /// <summary>Reads.</summary>
    /// <exception cref="LightQException">The broker cannot be reached, does not answer, or refuses.</exception>
    public static async Task TakeAsync(Func<CancellationToken, Task> read, CancellationToken cancellationToken)
    {
        using var patience = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        patience.CancelAfter(Patience);
        try
        {
            await read(patience.Token);
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            throw new LightQException(
                ErrorCode.TimedOut,
                $"The broker has not answered within {Patience.TotalSeconds:0} s."
            );
        }
    }
}
