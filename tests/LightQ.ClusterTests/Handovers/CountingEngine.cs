using System.Runtime.CompilerServices;
using LightQ.Broker.Replication;

namespace LightQ.ClusterTests.Handovers;

/// <summary>An engine as one node reaches it, which counts what the node reads.</summary>
internal sealed class CountingEngine(IReplicationEngine inner) : IReplicationEngine
{
    private long _entriesRead;

    /// <summary>How many entries of streams of partitions the node has read.</summary>
    public long EntriesRead => Interlocked.Read(ref _entriesRead);

    /// <summary>Called with each entry that the node has stored in a stream of a partition.</summary>
    public Action<EntryKind> OnStored { get; set; } = static _ => { };

    public string Description => inner.Description;

    public int MaxEntryBytes => inner.MaxEntryBytes;

    public async ValueTask<IReplicatedStream> CreateStreamAsync(
        string name,
        int replicas,
        CancellationToken cancellationToken
    ) => Wrap(await inner.CreateStreamAsync(name, replicas, cancellationToken));

    public IReplicatedStream GetStream(string name) => Wrap(inner.GetStream(name));

    public ValueTask DeleteStreamAsync(string name, CancellationToken cancellationToken) =>
        inner.DeleteStreamAsync(name, cancellationToken);

    public IAsyncEnumerable<string> ListStreamsAsync(string prefix, CancellationToken cancellationToken) =>
        inner.ListStreamsAsync(prefix, cancellationToken);

    public ValueTask PublishAsync(string channel, ReadOnlyMemory<byte> message, CancellationToken cancellationToken) =>
        inner.PublishAsync(channel, message, cancellationToken);

    public ValueTask<IAsyncDisposable> ListenAsync(
        string channel,
        Action<ReadOnlyMemory<byte>> handler,
        CancellationToken cancellationToken
    ) => inner.ListenAsync(channel, handler, cancellationToken);

    public ValueTask DisposeAsync() => inner.DisposeAsync();

    private IReplicatedStream Wrap(IReplicatedStream stream) =>
        stream.Name.EndsWith("catalog", StringComparison.Ordinal) ? stream : new CountingStream(this, stream);

    private sealed class CountingStream(CountingEngine engine, IReplicatedStream inner) : IReplicatedStream
    {
        public string Name => inner.Name;

        public async ValueTask<EntryAppend> AppendAsync(
            EntryKind kind,
            ReadOnlyMemory<byte> payload,
            ulong expectedLast,
            CancellationToken cancellationToken
        )
        {
            EntryAppend answer = await inner.AppendAsync(kind, payload, expectedLast, cancellationToken);
            if (answer.Outcome == AppendOutcome.Stored)
                engine.OnStored(kind);
            return answer;
        }

        public ValueTask<StreamBounds> GetBoundsAsync(CancellationToken cancellationToken) =>
            inner.GetBoundsAsync(cancellationToken);

        public ValueTask<StreamReport> ExamineAsync(CancellationToken cancellationToken) =>
            inner.ExamineAsync(cancellationToken);

        public async ValueTask<StreamEntry?> GetAsync(ulong sequence, CancellationToken cancellationToken) =>
            Count(await inner.GetAsync(sequence, cancellationToken));

        public async ValueTask<StreamEntry?> GetLastAsync(EntryKind kind, CancellationToken cancellationToken) =>
            Count(await inner.GetLastAsync(kind, cancellationToken));

        public async IAsyncEnumerable<StreamEntry> ReadAsync(
            ulong first,
            ulong last,
            [EnumeratorCancellation] CancellationToken cancellationToken
        )
        {
            await foreach (StreamEntry entry in inner.ReadAsync(first, last, cancellationToken))
                yield return Count(entry)!.Value;
        }

        public ValueTask<ulong> PurgeAsync(EntryKind kind, ulong before, CancellationToken cancellationToken) =>
            inner.PurgeAsync(kind, before, cancellationToken);

        private StreamEntry? Count(StreamEntry? found)
        {
            if (found is not null)
                Interlocked.Increment(ref engine._entriesRead);
            return found;
        }
    }
}
