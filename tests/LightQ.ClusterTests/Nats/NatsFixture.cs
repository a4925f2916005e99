using LightQ.Replication.Nats;
using Xunit;

namespace LightQ.ClusterTests.Nats;

/// <summary>One cluster for all tests of a collection, which run one after the other.</summary>
public sealed class NatsFixture : IAsyncLifetime
{
    private NatsCluster? _cluster;

    /// <summary>The cluster; without a nats-server the test is skipped.</summary>
    internal NatsCluster Cluster
    {
        get
        {
            Assert.SkipWhen(
                _cluster is null,
                "nats-server is not installed: apt-get install nats-server, or name one in LIGHTQ_NATS_SERVER."
            );
            return _cluster;
        }
    }

    public async ValueTask InitializeAsync()
    {
        if (NatsCluster.FindProgram() is { } program)
            _cluster = await NatsCluster.StartAsync(program);
    }

    public async ValueTask DisposeAsync()
    {
        if (_cluster is not null)
            await _cluster.DisposeAsync();
    }

    /// <summary>An engine that waits long: for tests in which every server runs, however busy the machine is.</summary>
    internal Task<JetStreamEngine> ConnectAsync() => ConnectAsync(TimeSpan.FromSeconds(20), TimeSpan.FromSeconds(20));

    internal async Task<JetStreamEngine> ConnectAsync(TimeSpan append, TimeSpan request) =>
        await JetStreamEngine.ConnectAsync(
            new NatsEngineOptions
            {
                Servers = Cluster.Addresses,
                AppendTimeout = append,
                RequestTimeout = request,
                ChangeTimeout = TimeSpan.FromSeconds(20),
            },
            TestContext.Current.CancellationToken
        );
}
