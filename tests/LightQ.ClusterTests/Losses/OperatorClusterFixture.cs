using LightQ.Client;
using LightQ.ClusterTests.Faults;
using LightQ.ClusterTests.Nats;
using LightQ.Replication.Nats;

namespace LightQ.ClusterTests.Losses;

/// <summary>
/// Three brokers in a cluster of their own on the nats-servers that all tests share: started by the first test that
/// runs, for all that leave it whole.
/// </summary>
public sealed class OperatorClusterFixture(NatsFixture nats) : IAsyncDisposable
{
    private bool _isStarted;

    internal string Name { get; } = $"mishap-{Guid.NewGuid():N}"[..14];

    internal BrokerCluster Cluster { get; private set; } = null!;

    internal JetStreamEngine Engine { get; private set; } = null!;

    internal LightQClient Client { get; private set; } = null!;

    /// <summary>Starts it, once.</summary>
    public async Task StartAsync()
    {
        if (_isStarted)
            return;
        Engine ??= await nats.ConnectAsync();
        Cluster = await BrokerCluster.StartAsync(nats.Cluster, Name);
        Client = Cluster.Connect();
        _isStarted = true;
    }

    public async ValueTask DisposeAsync()
    {
        if (_isStarted)
        {
            await Client.DisposeAsync();
            await Cluster.DisposeAsync();
        }
        if (Engine is null)
            return;
        await foreach (string stream in Engine.ListStreamsAsync($"LQ_{Name}_", CancellationToken.None))
            await Engine.DeleteStreamAsync(stream, CancellationToken.None);
        await Engine.DisposeAsync();
    }
}
