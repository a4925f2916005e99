namespace LightQ.Broker.Producers;

/// <summary>
/// Bytes of batches that wait in memory for room in their logs, of all producer streams together. Thread-safe.
/// </summary>
internal sealed class PendingBudget(Func<long> limit, LimitRefusals refusals)
{
    private const string Setting = nameof(BrokerOptions.MaxPendingBytes);

    private long _used;

    /// <summary>Bytes that wait now.</summary>
    public long Used => Volatile.Read(ref _used);

    /// <summary>Takes room before memory is.</summary>
    /// <param name="bytes">How much.</param>
    /// <param name="reason">Why there is none.</param>
    public bool TryTake(int bytes, out string reason)
    {
        long most = limit();
        reason = "";
        if (Interlocked.Add(ref _used, bytes) <= most)
            return true;
        Give(bytes);
        reason = refusals.Refuse(
            Setting,
            most,
            "The topic is full, and the broker keeps no more batches waiting for room"
        );
        return false;
    }

    /// <summary>Gives room back.</summary>
    public void Give(int bytes) => Interlocked.Add(ref _used, -bytes);
}
