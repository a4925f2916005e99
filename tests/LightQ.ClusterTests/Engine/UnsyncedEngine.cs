using LightQ.Broker.Replication;
using LightQ.ClusterTests.Log;

namespace LightQ.ClusterTests.Engine;

/// <summary>An engine in memory that says why it does not sync.</summary>
internal sealed class UnsyncedEngine : IReplicationEngine
{
    public MemoryEngine Memory { get; } = new();

    public string? Reason { get; set; }

    public string Description => Memory.Description;

    public int MaxEntryBytes => Memory.MaxEntryBytes;

    public ValueTask<string?> FindUnsyncedAsync(CancellationToken cancellationToken) => ValueTask.FromResult(Reason);

    public ValueTask<IReplicatedStream> CreateStreamAsync(
        string name,
        int replicas,
        CancellationToken cancellationToken
    ) => Memory.CreateStreamAsync(name, replicas, cancellationToken);

    public IReplicatedStream GetStream(string name) => Memory.GetStream(name);

    public ValueTask DeleteStreamAsync(string name, CancellationToken cancellationToken) =>
        Memory.DeleteStreamAsync(name, cancellationToken);

    public IAsyncEnumerable<string> ListStreamsAsync(string prefix, CancellationToken cancellationToken) =>
        Memory.ListStreamsAsync(prefix, cancellationToken);

    public ValueTask PublishAsync(string channel, ReadOnlyMemory<byte> message, CancellationToken cancellationToken) =>
        Memory.PublishAsync(channel, message, cancellationToken);

    public ValueTask<IAsyncDisposable> ListenAsync(
        string channel,
        Action<ReadOnlyMemory<byte>> handler,
        CancellationToken cancellationToken
    ) => Memory.ListenAsync(channel, handler, cancellationToken);

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;
}
