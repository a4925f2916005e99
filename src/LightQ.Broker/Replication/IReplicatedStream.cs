namespace LightQ.Broker.Replication;

/// <summary>One replicated stream of entries, in one order that all replicas share.</summary>
/// <remarks>
/// The engine decides what is stored and in which order. Whether an entry counts is decided by those who read it, from
/// the entries alone (docs/design/cluster.md, The rules of the log). Every member may be called from any thread. An
/// engine that cannot be reached, or does not answer in time, gives a <see cref="ReplicationException"/>, except for
/// <see cref="AppendAsync"/>, whose outcome is then unknown.
/// </remarks>
public interface IReplicatedStream
{
    /// <summary>The stream's name.</summary>
    string Name { get; }

    /// <summary>
    /// Appends an entry if the last sequence of the stream is the expected one. One append at a time: the caller waits
    /// for the answer before the next.
    /// </summary>
    /// <param name="kind">What the entry holds.</param>
    /// <param name="payload">The bytes, at most <see cref="IReplicationEngine.MaxEntryBytes"/>.</param>
    /// <param name="expectedLast">The sequence of the entry that it must follow; 0 for the first of a stream.</param>
    /// <param name="cancellationToken">Stops waiting; the outcome is then unknown.</param>
    /// <returns>Stored at <paramref name="expectedLast"/> + 1, refused, or unknown.</returns>
    ValueTask<EntryAppend> AppendAsync(
        EntryKind kind,
        ReadOnlyMemory<byte> payload,
        ulong expectedLast,
        CancellationToken cancellationToken
    );

    /// <summary>The sequences held, as the stream's leader knows them.</summary>
    ValueTask<StreamBounds> GetBoundsAsync(CancellationToken cancellationToken);

    /// <summary>What the stream's leader says of it as a whole; also of one that is gone.</summary>
    async ValueTask<StreamReport> ExamineAsync(CancellationToken cancellationToken) =>
        new(true, await GetBoundsAsync(cancellationToken).ConfigureAwait(false), Entries: null, Altered: null);

    /// <summary>One entry; null when it was purged or is not there yet.</summary>
    /// <remarks>A replica that is behind may answer: ask again, or read, for what must be there.</remarks>
    ValueTask<StreamEntry?> GetAsync(ulong sequence, CancellationToken cancellationToken);

    /// <summary>The last entry of a kind; null when there is none.</summary>
    /// <remarks>A replica that is behind may answer, so that a later one may be stored already.</remarks>
    ValueTask<StreamEntry?> GetLastAsync(EntryKind kind, CancellationToken cancellationToken);

    /// <summary>
    /// Entries in order of their sequences, from the first that is stored at or behind <paramref name="first"/> to
    /// <paramref name="last"/>, or to the last that the stream holds when the read begins; those that were purged are
    /// left out.
    /// </summary>
    /// <remarks>
    /// Each comes once, and none is missing before one that came: a read that loses the engine ends with a
    /// <see cref="ReplicationException"/>, and goes on from there when it is begun again.
    /// </remarks>
    IAsyncEnumerable<StreamEntry> ReadAsync(ulong first, ulong last, CancellationToken cancellationToken);

    /// <summary>
    /// Removes the entries of a kind with lower sequences. Where the engine cannot do that safely, they stay.
    /// </summary>
    /// <returns>How many went.</returns>
    ValueTask<ulong> PurgeAsync(EntryKind kind, ulong before, CancellationToken cancellationToken);
}
