using System.Runtime.CompilerServices;
using System.Threading.Channels;
using LightQ.Client.Connections;
using LightQ.Protocol.Control;

namespace LightQ.Tests.Client;

/// <summary>A cluster whose news a test tells, to whichever broker the client watches.</summary>
internal sealed class ScriptedLeaders : ILeaderDirectory
{
    private readonly Channel<LeaderMap?> _news = Channel.CreateUnbounded<LeaderMap?>();
    private readonly Channel<(int Broker, string[] Topics)> _watched = Channel.CreateUnbounded<(int, string[])>();

    private readonly Channel<string[]> _ended = Channel.CreateUnbounded<string[]>();

    /// <summary>The topics of the calls that have ended, in order.</summary>
    public ChannelReader<string[]> Ended => _ended.Reader;

    /// <summary>The calls to watch, in order.</summary>
    public ChannelReader<(int Broker, string[] Topics)> Watched => _watched.Reader;

    public Task<string?> FindAsync(string topic, int? partition, uint newest, CancellationToken cancellationToken) =>
        Task.FromResult<string?>(null);

    public async IAsyncEnumerable<LeaderMap> WatchAsync(
        int broker,
        IReadOnlyCollection<string> topics,
        [EnumeratorCancellation] CancellationToken cancellationToken
    )
    {
        _watched.Writer.TryWrite((broker, [.. topics]));
        try
        {
            yield return new LeaderMap(new ClusterMetadata());
            while (await _news.Reader.ReadAsync(cancellationToken) is { } map)
                yield return map;
        }
        finally
        {
            _ended.Writer.TryWrite([.. topics]);
        }
    }

    /// <summary>Tells who leads partition 0 of orders, and which of three nodes are silent.</summary>
    public void Tell(string leader, uint epoch, params string[] silent)
    {
        var metadata = new ClusterMetadata();
        string[] addresses = [leader, .. silent, "127.0.0.1:1", "127.0.0.1:2"];
        foreach (string address in addresses.Distinct().Take(3))
        {
            metadata.Nodes.Add(
                new ClusterNode
                {
                    Name = address,
                    DataAddress = address,
                    State = silent.Contains(address) ? NodeState.Silent : NodeState.Alive,
                }
            );
        }
        metadata.Partitions.Add(
            new PartitionLeader
            {
                Topic = "orders",
                Node = leader,
                Epoch = epoch,
            }
        );
        _news.Writer.TryWrite(new LeaderMap(metadata));
    }

    /// <summary>Tells that orders has no replicas.</summary>
    public void TellAlone()
    {
        var metadata = new ClusterMetadata();
        metadata.Partitions.Add(new PartitionLeader { Topic = "orders", Replicas = 1 });
        _news.Writer.TryWrite(new LeaderMap(metadata));
    }

    /// <summary>Ends the call that is open, as a broker that stops does.</summary>
    public void End() => _news.Writer.TryWrite(null);
}
