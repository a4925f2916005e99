using LightQ.Broker;

namespace LightQ.Server.Security;

/// <summary>
/// Whether a node of a cluster has not read the catalog for so long that the logins and rights which it knows are not
/// believed any more: others may have revoked them. Thread-safe.
/// </summary>
internal sealed class CatalogAge : IDisposable
{
    private static readonly TimeSpan Poll = TimeSpan.FromSeconds(1);

    private readonly LightQBroker _broker;
    private readonly TimeSpan _longest;
    private readonly TimeProvider _time;
    private readonly ITimer _timer;
    private long? _since;
    private volatile bool _isTooOld;

    /// <param name="broker">The broker.</param>
    /// <param name="longest">How long they are believed.</param>
    /// <param name="time">The clock.</param>
    public CatalogAge(LightQBroker broker, TimeSpan longest, TimeProvider time)
    {
        (_broker, _longest, _time) = (broker, longest, time);
        _timer = time.CreateTimer(static self => ((CatalogAge)self!).Look(), this, Poll, Poll);
    }

    /// <summary>Raised when that has changed.</summary>
    public event Action? Changed;

    /// <summary>Why a login does not count now; null while it does.</summary>
    public BrokerException? Refusal =>
        _isTooOld
            ? new BrokerException(
                ErrorCode.Unavailable,
                $"This broker has not read its cluster's catalog for {_longest.TotalSeconds:0} s "
                    + "(Cluster:TrustCatalogFor), and does not know who may do what. Try another broker."
            )
            : null;

    /// <inheritdoc/>
    public void Dispose() => _timer.Dispose();

    private void Look()
    {
        bool isUnread = _broker.FailureOf(StoredState.ClusterCatalog) is not null;
        _since = isUnread ? _since ?? _time.GetTimestamp() : null;
        bool isTooOld = _since is { } since && _time.GetElapsedTime(since) >= _longest;
        if (isTooOld == _isTooOld)
            return;
        _isTooOld = isTooOld;
        Changed?.Invoke();
    }
}
