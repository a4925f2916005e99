using LightQ.Storage;

namespace LightQ.Broker.Catalog;

/// <summary>
/// Where the records of a catalog are kept, in one order: a file of this broker, or a stream that all nodes of a
/// cluster share. It applies them to the <see cref="CatalogTables"/>.
/// </summary>
internal interface IRecordLog : IDisposable
{
    /// <summary>Whether other nodes change the same catalog.</summary>
    bool IsShared { get; }

    /// <summary>
    /// The last sequence that the tables hold; grows, unless the stream was written anew, and stays 0 where no other
    /// node writes.
    /// </summary>
    ulong Applied { get; }

    /// <summary>Why what is stored is not, or may not be, what counts here; null while it is.</summary>
    JournalFailure? Failure { get; }

    /// <summary>
    /// Makes a change: stores what the function gives, and applies it. Blocks until that is done.
    /// </summary>
    /// <param name="make">
    /// Checks whether the change may be made, and gives its records; none when there is nothing to change. The tables
    /// are locked. It is called again when another node was faster, and when it refuses the change or finds nothing to
    /// change in a copy that may be old.
    /// </param>
    /// <param name="takesAway">
    /// Whether the change takes a right away: then it counts even if this broker's own disk refuses it.
    /// </param>
    /// <param name="applied">Called when the records are applied, before any other is; the tables are locked.</param>
    /// <exception cref="UnstoredException">The records are not stored, or it is not known whether they are.</exception>
    /// <returns>Whether there was something to change.</returns>
    bool Change(Func<IReadOnlyList<CatalogRecord>> make, bool takesAway, Action? applied = null);

    /// <summary>
    /// As <see cref="Change"/>, for callers that may not block: completes at once where the records are in a file.
    /// </summary>
    ValueTask<bool> ChangeAsync(Func<IReadOnlyList<CatalogRecord>> make, bool takesAway, Action? applied = null);

    /// <summary>Applies what other nodes have stored until now, and blocks until that is done.</summary>
    /// <exception cref="Replication.ReplicationException">The stream cannot be read.</exception>
    void CatchUp();

    /// <summary>
    /// Applies what other nodes have stored until now. Those that ask at the same time share one reading.
    /// </summary>
    /// <exception cref="Replication.ReplicationException">The stream cannot be read.</exception>
    Task CatchUpAsync(CancellationToken cancellationToken);

    /// <summary>Applies from now on what other nodes store, soon after they do.</summary>
    /// <param name="news">Called after something was applied; nothing is locked.</param>
    void Follow(Action news);

    /// <summary>Ends that; completes when nothing more is applied by it.</summary>
    ValueTask StopFollowingAsync();
}
