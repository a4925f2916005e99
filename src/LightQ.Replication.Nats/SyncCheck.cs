namespace LightQ.Replication.Nats;

/// <summary>
/// Asks whether every server syncs before it acknowledges. That they do is remembered for a short while; that one does
/// not is asked again each time, as an operator mends it and tries again.
/// </summary>
internal sealed class SyncCheck(IReadOnlyList<Uri> monitoring, TimeProvider time)
{
    private static readonly TimeSpan Remembered = TimeSpan.FromSeconds(10);

    private long _synced;

    /// <inheritdoc cref="SyncRule.FindUnsynced"/>
    public async Task<string?> FindUnsyncedAsync(CancellationToken cancellationToken)
    {
        long synced = Volatile.Read(ref _synced);
        if (synced != 0 && time.GetElapsedTime(synced) < Remembered)
            return null;
        long now = time.GetTimestamp();
        string? reason = SyncRule.FindUnsynced(
            await ServerMonitoring.AskAsync(monitoring, cancellationToken).ConfigureAwait(false)
        );
        Volatile.Write(ref _synced, reason is null ? now : 0);
        return reason;
    }
}
