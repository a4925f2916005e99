namespace LightQ.Broker.Replication;

/// <summary>
/// What keeps replicated streams: a service beside the brokers. Every member may be called from any thread.
/// </summary>
public interface IReplicationEngine : IAsyncDisposable
{
    /// <summary>The engine's name and version, for logs and health.</summary>
    string Description { get; }

    /// <summary>The largest entry that it stores, in bytes.</summary>
    int MaxEntryBytes { get; }

    /// <summary>Makes a stream, or finds the one that is there already.</summary>
    /// <param name="name">Letters, digits, underscores and hyphens.</param>
    /// <param name="replicas">On how many of the engine's nodes: 1, 3 or 5.</param>
    /// <param name="cancellationToken">Stops waiting.</param>
    /// <exception cref="ReplicationException">
    /// The engine does not answer, has too few nodes, or has a stream of the name with other settings.
    /// </exception>
    ValueTask<IReplicatedStream> CreateStreamAsync(string name, int replicas, CancellationToken cancellationToken);

    /// <summary>A stream that was made earlier. Nothing is asked of the engine.</summary>
    IReplicatedStream GetStream(string name);

    /// <summary>Deletes a stream with all that it holds; one that is not there is no mistake.</summary>
    ValueTask DeleteStreamAsync(string name, CancellationToken cancellationToken);

    /// <summary>
    /// Why a power cut of all of the engine's nodes may lose what it has acknowledged; null when each of them syncs
    /// before it acknowledges.
    /// </summary>
    ValueTask<string?> FindUnsyncedAsync(CancellationToken cancellationToken) =>
        ValueTask.FromResult<string?>($"{Description} does not say whether it does");

    /// <summary>
    /// What is wrong with the engine now, as far as it can be seen from here: nodes that are not there or do not store,
    /// replicas that lag, limits. Nothing for an engine that does not say.
    /// </summary>
    /// <param name="streams">The streams whose replicas are asked about.</param>
    /// <param name="cancellationToken">Stops it.</param>
    /// <exception cref="ReplicationException">None of its nodes answers.</exception>
    ValueTask<IReadOnlyList<EngineProblem>> FindProblemsAsync(
        IReadOnlyCollection<string> streams,
        CancellationToken cancellationToken
    ) => ValueTask.FromResult<IReadOnlyList<EngineProblem>>([]);

    /// <summary>The names of all streams that begin with a prefix.</summary>
    IAsyncEnumerable<string> ListStreamsAsync(string prefix, CancellationToken cancellationToken);

    /// <summary>
    /// Sends a message to all that listen on a channel now. It is not stored, and may be lost: an engine that cannot be
    /// reached drops it.
    /// </summary>
    /// <param name="channel">Letters, digits, underscores and hyphens.</param>
    /// <param name="message">The bytes, at most <see cref="MaxEntryBytes"/>.</param>
    /// <param name="cancellationToken">Stops it.</param>
    ValueTask PublishAsync(string channel, ReadOnlyMemory<byte> message, CancellationToken cancellationToken);

    /// <summary>
    /// Listens on a channel, also to what this node sends itself, until the result is disposed of. The messages of one
    /// sender come in their order.
    /// </summary>
    /// <param name="channel">Letters, digits, underscores and hyphens.</param>
    /// <param name="handler">Gets one message at a time, and must not block.</param>
    /// <param name="cancellationToken">Stops waiting for the engine.</param>
    /// <exception cref="ReplicationException">The engine cannot be reached.</exception>
    ValueTask<IAsyncDisposable> ListenAsync(
        string channel,
        Action<ReadOnlyMemory<byte>> handler,
        CancellationToken cancellationToken
    );
}
