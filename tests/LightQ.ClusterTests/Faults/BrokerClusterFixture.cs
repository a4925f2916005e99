using LightQ.ClusterTests.Nats;
using Xunit;

namespace LightQ.ClusterTests.Faults;

/// <summary>
/// One cluster of brokers for all rows, which run one after the other; each heals what it has broken.
/// </summary>
public sealed class BrokerClusterFixture(NatsFixture nats) : IAsyncLifetime
{
    private BrokerCluster? _cluster;

    /// <summary>The cluster; without a nats-server the test is skipped.</summary>
    internal BrokerCluster Cluster
    {
        get
        {
            _ = nats.Cluster; // Skips.
            return _cluster!;
        }
    }

    public async ValueTask InitializeAsync()
    {
        if (NatsCluster.FindProgram() is not null)
            _cluster = await BrokerCluster.StartAsync(nats.Cluster);
    }

    public async ValueTask DisposeAsync()
    {
        if (_cluster is not null)
            await _cluster.DisposeAsync();
    }
}
