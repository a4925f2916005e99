using LightQ.Broker.Replication;
using LightQ.Storage;

namespace LightQ.Broker.Catalog;

/// <summary>
/// Decides what depends on the catalog, and makes its changes: in a cluster what is final for a client is not said from
/// a copy that may be old (docs/design/cluster.md, Refusals). Thread-safe.
/// </summary>
/// <param name="catalog">The catalog.</param>
/// <param name="carriedOut">The last change of the catalog that is carried out here.</param>
/// <param name="cluster">The cluster; null without one.</param>
/// <param name="time">The clock.</param>
internal sealed class CatalogDecisions(
    TopicCatalog catalog,
    Func<ulong> carriedOut,
    ReplicationOptions? cluster,
    TimeProvider time
)
{
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(20);

    /// <summary>The last change of the cluster's catalog that is carried out here.</summary>
    public ulong Sequence => carriedOut();

    /// <summary>
    /// Does something that looks at the catalog. What would be final for a client is only said when the catalog was
    /// read on; if there was something new, everything is looked at again.
    /// </summary>
    /// <param name="attempt">What is done; it has changed nothing when it throws one of these errors.</param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <param name="codeOf">The code of an error that is not the engine's own.</param>
    /// <exception cref="BrokerException">
    /// What <paramref name="attempt"/> throws; or the catalog cannot be read: <see cref="ErrorCode.Unavailable"/>.
    /// </exception>
    public async ValueTask<T> DecideAsync<T>(
        Func<ValueTask<T>> attempt,
        CancellationToken cancellationToken,
        Func<Exception, ErrorCode>? codeOf = null
    )
    {
        if (cluster is null)
            return await attempt().ConfigureAwait(false);
        ulong seen = carriedOut();
        try
        {
            return await attempt().ConfigureAwait(false);
        }
        catch (Exception e) when (IsFinal(e is BrokerException known ? known.Code : codeOf?.Invoke(e) ?? default))
        {
            if (!await ReadOnAsync(seen, cancellationToken).ConfigureAwait(false))
                throw;
        }
        return await attempt().ConfigureAwait(false);
    }

    /// <summary>
    /// Makes a change that blocks: in a cluster on a thread of its own, since the answer of the engine needs threads of
    /// the pool.
    /// </summary>
    /// <param name="change">The change.</param>
    /// <param name="asker">Is cancelled when nobody waits for it any more: then it is dropped if it can be.</param>
    public ValueTask<T> ChangeAsync<T>(Func<T> change, CancellationToken asker = default)
    {
        if (cluster is null)
            return ValueTask.FromResult(change());
        return new ValueTask<T>(
            Task.Factory.StartNew(
                () =>
                {
                    CatalogAsker.Token = asker;
                    return change();
                },
                CancellationToken.None,
                TaskCreationOptions.LongRunning | TaskCreationOptions.DenyChildAttach,
                TaskScheduler.Default
            )
        );
    }

    /// <summary>The same for a change that gives nothing.</summary>
    public async ValueTask ChangeAsync(Action change, CancellationToken asker = default) =>
        await ChangeAsync(
                () =>
                {
                    change();
                    return true;
                },
                asker
            )
            .ConfigureAwait(false);

    /// <summary>Makes true on this node what the others have changed until now; tries for a while.</summary>
    /// <param name="seen"><see cref="Sequence"/> before something was looked at.</param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <returns>Whether that has changed anything; never without a cluster.</returns>
    /// <exception cref="BrokerException">It cannot be read: <see cref="ErrorCode.Unavailable"/>.</exception>
    public async ValueTask<bool> ReadOnAsync(ulong seen, CancellationToken cancellationToken)
    {
        if (cluster is null)
            return false;
        using var late = new CancellationTokenSource(cluster.CatalogPatience, time);
        using var patience = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, late.Token);
        string reason = "the engine does not answer in time";
        while (!patience.IsCancellationRequested)
        {
            try
            {
                await catalog.CatchUpAsync(patience.Token).ConfigureAwait(false);
                return carriedOut() != seen;
            }
            catch (Exception e) when (e is ReplicationException or JournalFormatException)
            {
                reason = e.Message;
                if (e is ReplicationException { IsLoss: true } && catalog.Failure is not null)
                    break;
            }
            catch (OperationCanceledException)
            {
                break;
            }
            await Task.Delay(Pause, patience.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
        cancellationToken.ThrowIfCancellationRequested();
        throw new BrokerException(
            ErrorCode.Unavailable,
            $"The cluster's catalog could not be read on, and this node's copy may be old: {reason}. Try again."
        );
    }

    /// <summary>The same for a check of a change that blocks.</summary>
    /// <exception cref="BrokerException">What the check throws; or the catalog cannot be read.</exception>
    public void Decide(Action check)
    {
        try
        {
            check();
        }
        catch (BrokerException) when (cluster is not null)
        {
            ReadOn();
            check();
        }
    }

    /// <summary>Reads the catalog on, and blocks until that is done.</summary>
    /// <exception cref="UnstoredException">It cannot be read.</exception>
    public void ReadOn()
    {
        try
        {
            catalog.CatchUp();
        }
        catch (Exception e) when (e is ReplicationException or JournalFormatException)
        {
            throw UnstoredException.Unreachable(e.Message);
        }
    }

    /// <summary>
    /// Whether a client takes the error for the last word, and the catalog decides about it: names, rights, limits.
    /// </summary>
    private static bool IsFinal(ErrorCode code) =>
        code
            is ErrorCode.UnknownTopic
                or ErrorCode.TopicExists
                or ErrorCode.TopicDeleted
                or ErrorCode.UnknownPartition
                or ErrorCode.NotSupported
                or ErrorCode.Unauthenticated
                or ErrorCode.PermissionDenied
                or ErrorCode.Fenced
                or ErrorCode.UnknownUser
                or ErrorCode.UserExists
                or ErrorCode.UnknownToken;
}
