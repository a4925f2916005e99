using System.Collections.Concurrent;
using LightQ.Broker.Replication;

namespace LightQ.ClusterTests.Log;

/// <summary>An engine in memory: streams over a network that can be cut for all of them.</summary>
internal sealed class MemoryEngine : IReplicationEngine
{
    private readonly ConcurrentDictionary<string, FaultyStream> _streams;
    private readonly ConcurrentDictionary<string, FaultyStream.Link> _links = new();

    public MemoryEngine()
        : this(new ConcurrentDictionary<string, FaultyStream>()) { }

    private MemoryEngine(ConcurrentDictionary<string, FaultyStream> streams) => _streams = streams;

    public string Description => "memory";

    public int MaxEntryBytes => 8 << 20;

    public IReadOnlyCollection<string> Names => [.. _streams.Keys];

    public FaultyStream this[string name] => _streams[name];

    /// <summary>The same streams, as another node reaches them.</summary>
    public MemoryEngine Share() => new(_streams);

    /// <summary>From now on nothing is answered.</summary>
    public void Cut()
    {
        foreach (FaultyStream.Link link in _links.Values)
            link.Cut();
    }

    /// <summary>What was sent meanwhile arrives.</summary>
    public void Heal()
    {
        foreach (FaultyStream.Link link in _links.Values)
            link.Heal();
    }

    public ValueTask<IReplicatedStream> CreateStreamAsync(
        string name,
        int replicas,
        CancellationToken cancellationToken
    )
    {
        _streams.GetOrAdd(name, static _ => new FaultyStream(seed: 5));
        return ValueTask.FromResult(GetStream(name));
    }

    public IReplicatedStream GetStream(string name) => _links.GetOrAdd(name, n => _streams[n].Connect());

    public ValueTask DeleteStreamAsync(string name, CancellationToken cancellationToken)
    {
        _streams.TryRemove(name, out _);
        _links.TryRemove(name, out _);
        return ValueTask.CompletedTask;
    }

    public async IAsyncEnumerable<string> ListStreamsAsync(
        string prefix,
        [System.Runtime.CompilerServices.EnumeratorCancellation] CancellationToken cancellationToken
    )
    {
        await Task.Yield();
        foreach (string name in _streams.Keys.Where(name => name.StartsWith(prefix, StringComparison.Ordinal)))
            yield return name;
    }

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;
}
