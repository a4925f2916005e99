using LightQ.Broker.Replication;

namespace LightQ.ClusterTests.Log;

/// <summary>
/// A node's way to a stream that is cut in the middle of a snapshot: the parts behind one of them are lost, and so is
/// all that comes then.
/// </summary>
/// <param name="inner">The way.</param>
/// <param name="behind">How many parts of snapshots arrive before.</param>
internal sealed class CutInSnapshot(FaultyStream.Link inner, int behind) : IReplicatedStream
{
    private int _parts;

    public string Name => inner.Name;

    public ValueTask<EntryAppend> AppendAsync(
        EntryKind kind,
        ReadOnlyMemory<byte> payload,
        ulong expectedLast,
        CancellationToken cancellationToken
    )
    {
        if (kind == EntryKind.Snapshot && ++_parts > behind)
            inner.Cut();
        return inner.AppendAsync(kind, payload, expectedLast, cancellationToken);
    }

    public ValueTask<StreamBounds> GetBoundsAsync(CancellationToken cancellationToken) =>
        inner.GetBoundsAsync(cancellationToken);

    public ValueTask<StreamEntry?> GetAsync(ulong sequence, CancellationToken cancellationToken) =>
        inner.GetAsync(sequence, cancellationToken);

    public ValueTask<StreamEntry?> GetLastAsync(EntryKind kind, CancellationToken cancellationToken) =>
        inner.GetLastAsync(kind, cancellationToken);

    public IAsyncEnumerable<StreamEntry> ReadAsync(ulong first, ulong last, CancellationToken cancellationToken) =>
        inner.ReadAsync(first, last, cancellationToken);

    public ValueTask<ulong> PurgeAsync(EntryKind kind, ulong before, CancellationToken cancellationToken) =>
        inner.PurgeAsync(kind, before, cancellationToken);
}
