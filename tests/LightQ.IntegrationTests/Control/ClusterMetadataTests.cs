using LightQ.Protocol.Control;
using Xunit;

namespace LightQ.IntegrationTests.Control;

/// <summary>What a broker without a cluster says of itself and of what it leads.</summary>
public sealed class ClusterMetadataTests
{
    [Fact]
    public async Task A_broker_alone_is_the_only_node_and_leads_everything()
    {
        await using TestServer server = await TestServer.StartAsync();
        await TopicsTests.CreateAsync(server, "orders");
        await TopicsTests.CreateAsync(server, "bills");
        ClusterMetadata all = await server.Control.CallAsync<GetMetadataRequest, ClusterMetadata>("GetMetadata", new());
        Assert.Equal(("", "local", ""), (all.Cluster, all.Node, all.Engine));
        ClusterNode node = Assert.Single(all.Nodes);
        Assert.Equal(("local", NodeState.Alive, 0u), (node.Name, node.State, node.Leads));
        Assert.Equal($"127.0.0.1:{server.DataPort}", node.DataAddress);
        Assert.Equal($"127.0.0.1:{server.Server.ControlPort}", node.ControlAddress);
        Assert.Equal(["bills", "orders"], all.Partitions.Select(p => p.Topic));
        Assert.All(all.Partitions, p => Assert.Equal(("local", 0u, 1u), (p.Node, p.Epoch, p.Replicas)));
        ClusterMetadata one = await server.Control.CallAsync<GetMetadataRequest, ClusterMetadata>(
            "GetMetadata",
            new() { Topics = { "orders", "none" } }
        );
        Assert.Equal("orders", Assert.Single(one.Partitions).Topic);
    }

    [Fact]
    public async Task Who_watches_is_told_of_a_new_topic()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using IAsyncEnumerator<ClusterMetadata> watch = server
            .Control.StreamAsync<GetMetadataRequest, ClusterMetadata>(
                "WatchMetadata",
                new(),
                cancellationToken: TestContext.Current.CancellationToken
            )
            .GetAsyncEnumerator(TestContext.Current.CancellationToken);
        Assert.True(await watch.MoveNextAsync());
        Assert.Empty(watch.Current.Partitions);
        await TopicsTests.CreateAsync(server, "orders");
        Assert.True(await watch.MoveNextAsync());
        Assert.Equal("orders", Assert.Single(watch.Current.Partitions).Topic);
    }
}
