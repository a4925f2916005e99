using LightQ.Bench.Checks;

namespace LightQ.Bench.Load;

/// <summary>
/// Gives a consumer up when nothing has come for a while: what is missing then is lost. A run that has not begun is
/// waited for.
/// </summary>
internal sealed class ConsumePatience : IDisposable
{
    public static readonly TimeSpan Limit = TimeSpan.FromSeconds(20);
    private static readonly TimeSpan Step = TimeSpan.FromSeconds(1);

    private readonly DeliveryCheck _check;
    private readonly CancellationTokenSource _source;

    public ConsumePatience(DeliveryCheck check, CancellationToken cancellationToken)
    {
        _check = check;
        _source = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
    }

    /// <summary>Cancelled when patience ends.</summary>
    public CancellationToken Token => _source.Token;

    /// <summary>Waits until the consumer is done, or nothing has come for too long.</summary>
    public async Task WaitAsync(Task consuming)
    {
        long seen = _check.Taken;
        TimeSpan silent = TimeSpan.Zero;
        while (silent < Limit)
        {
            if (await Task.WhenAny(consuming, Task.Delay(Step, CancellationToken.None)) == consuming)
            {
                await consuming;
                return;
            }
            silent = _check.HasBegun && _check.Taken == seen ? silent + Step : TimeSpan.Zero;
            seen = _check.Taken;
        }
        // The consumer's error says no more than the numbers do.
        await _source.CancelAsync();
        await consuming.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
    }

    public void Dispose() => _source.Dispose();
}
