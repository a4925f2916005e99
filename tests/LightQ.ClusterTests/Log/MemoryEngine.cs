using System.Collections.Concurrent;
using LightQ.Broker.Replication;

namespace LightQ.ClusterTests.Log;

/// <summary>
/// An engine in memory, as one node reaches it: streams and channels over a network that can be cut for that node.
/// </summary>
internal sealed class MemoryEngine : IReplicationEngine
{
    private readonly ConcurrentDictionary<string, FaultyStream> _streams;
    private readonly ConcurrentDictionary<string, FaultyStream.Link> _links = new();
    private readonly MemoryChannels _channels;
    private volatile bool _isCut;

    public MemoryEngine()
        : this(new(), new()) { }

    private MemoryEngine(ConcurrentDictionary<string, FaultyStream> streams, MemoryChannels channels) =>
        (_streams, _channels) = (streams, channels);

    /// <param name="shared">An engine whose streams and channels it reaches over a network of its own.</param>
    public MemoryEngine(MemoryEngine shared)
        : this(shared._streams, shared._channels) { }

    public string Description => "memory";

    public int MaxEntryBytes { get; init; } = 8 << 20;

    /// <summary>How much of what is sent to new streams is lost, or late.</summary>
    public double Faults { get; init; }

    public IReadOnlyCollection<string> Names => [.. _streams.Keys];

    /// <summary>Whether this node's messages to the others are lost, and theirs to it.</summary>
    public bool IsMute { get; set; }

    /// <summary>Whether another node is faster to store something in a new stream.</summary>
    public Func<string, bool> Spoils { get; set; } = static _ => false;

    /// <summary>How much waits to be stored until the network is healed.</summary>
    public int Held => _links.Values.Sum(link => link.Held);

    public FaultyStream this[string name] => _streams[name];

    /// <summary>From now on this node reaches the others, and not that stream.</summary>
    public void CutStream(string name) => ((FaultyStream.Link)GetStream(name)).Cut();

    /// <summary>From now on this node hears late of what a stream has.</summary>
    public void DelayReads(string name, TimeSpan by) => ((FaultyStream.Link)GetStream(name)).ReadDelay = by;

    /// <summary>The same engine, as another node reaches it.</summary>
    public MemoryEngine Connect() => new(_streams, _channels);

    /// <summary>From now on nothing is answered.</summary>
    public void Cut()
    {
        _isCut = true;
        foreach (FaultyStream.Link link in _links.Values)
            link.Cut();
    }

    /// <summary>What was sent meanwhile arrives.</summary>
    public void Heal()
    {
        _isCut = false;
        foreach (FaultyStream.Link link in _links.Values)
            link.Heal();
    }

    public async ValueTask<IReplicatedStream> CreateStreamAsync(
        string name,
        int replicas,
        CancellationToken cancellationToken
    )
    {
        _streams.GetOrAdd(name, _ => new FaultyStream(seed: 5, Faults));
        IReplicatedStream stream = GetStream(name);
        if (Spoils(name))
            await stream.AppendAsync(EntryKind.Data, new byte[] { 1 }, 0, cancellationToken);
        return stream;
    }

    public IReplicatedStream GetStream(string name) =>
        _links.GetOrAdd(name, n => new FaultyStream.Link(() => _streams.GetValueOrDefault(n)));

    public ValueTask DeleteStreamAsync(string name, CancellationToken cancellationToken)
    {
        _streams.TryRemove(name, out _);
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

    public ValueTask PublishAsync(string channel, ReadOnlyMemory<byte> message, CancellationToken cancellationToken)
    {
        if (!_isCut && !IsMute)
            _channels.Publish(channel, message.ToArray());
        return ValueTask.CompletedTask;
    }

    public ValueTask<IAsyncDisposable> ListenAsync(
        string channel,
        Action<ReadOnlyMemory<byte>> handler,
        CancellationToken cancellationToken
    ) =>
        ValueTask.FromResult(
            _channels.Listen(
                channel,
                message =>
                {
                    if (!_isCut && !IsMute)
                        handler(message);
                }
            )
        );

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;
}
