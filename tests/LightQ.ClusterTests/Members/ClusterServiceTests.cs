using Grpc.Core;
using Grpc.Net.Client;
using LightQ.Broker;
using LightQ.Broker.Replication;
using LightQ.ClusterTests.Log;
using LightQ.IntegrationTests;
using LightQ.IntegrationTests.Control;
using LightQ.Protocol.Control;
using LightQ.Server;
using Xunit;
using Topic = LightQ.Broker.Topics.Topic;

namespace LightQ.ClusterTests.Members;

/// <summary>Two servers over an engine in memory, and what operators ask of them.</summary>
public sealed class ClusterServiceTests : IAsyncLifetime
{
    private readonly TemporaryDirectory _directory = new();
    private readonly MemoryEngine _engine = new();
    private readonly List<Topic> _known = [];
    private LightQServer _a = null!,
        _b = null!;

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    public async ValueTask InitializeAsync()
    {
        _a = await StartAsync("a");
        _b = await StartAsync("b");
    }

    public async ValueTask DisposeAsync()
    {
        await _a.DisposeAsync();
        await _b.DisposeAsync();
        _directory.Dispose();
    }

    [Fact]
    public async Task Metadata_tells_the_nodes_and_leaders_and_partitions_are_moved_and_drained()
    {
        Topic topic = await CreateAsync(partitions: 4);
        using GrpcChannel channel = GrpcChannel.ForAddress($"http://127.0.0.1:{_a.ControlPort}");
        ClusterMetadata metadata = await UntilAsync(
            channel,
            m =>
                m.Partitions.All(p => p.Node.Length != 0)
                && m.Nodes.Count == 2
                && m.Nodes.All(n => n.State == NodeState.Alive)
                && !m.Listening
        );
        Assert.Equal(("shop", "a", "memory"), (metadata.Cluster, metadata.Node, metadata.Engine));
        Assert.Equal(["a", "b"], metadata.Nodes.Select(n => n.Name));
        Assert.Equal(
            [$"127.0.0.1:{_a.DataPort}", $"127.0.0.1:{_b.DataPort}"],
            metadata.Nodes.Select(n => n.DataAddress)
        );
        Assert.Equal($"127.0.0.1:{_b.ControlPort}", metadata.Nodes[1].ControlAddress);
        Assert.All(metadata.Nodes, n => Assert.Equal((NodeState.Alive, LightQServer.Version), (n.State, n.Version)));
        Assert.All(metadata.Partitions, p => Assert.Equal(3u, p.Replicas));

        foreach (PartitionLeader partition in metadata.Partitions)
        {
            string to = partition.Node == "a" ? "b" : "a";
            MovePartitionResponse response = await channel.CallAsync<MovePartitionRequest, MovePartitionResponse>(
                "MovePartition",
                new()
                {
                    Topic = "orders",
                    Partition = partition.Partition,
                    Node = to,
                }
            );
            Assert.True(response.Epoch > partition.Epoch, $"Epoch {response.Epoch} after {partition.Epoch}.");
        }
        string[] moved = [.. metadata.Partitions.Select(p => p.Node == "a" ? "b" : "a")];
        ClusterMetadata after = await UntilAsync(channel, m => m.Partitions.Select(p => p.Node).SequenceEqual(moved));

        List<uint> left = [];
        await foreach (
            DrainNodeProgress progress in channel.StreamAsync<DrainNodeRequest, DrainNodeProgress>(
                "DrainNode",
                new() { Node = "b" },
                cancellationToken: Cancelled
            )
        )
        {
            left.Add(progress.PartitionsLeft);
        }
        Assert.Equal(0u, left[^1]);
        after = await UntilAsync(
            channel,
            m => m.Partitions.All(p => p.Node == "a") && m.Nodes[1].State == NodeState.Draining
        );
        Assert.Equal([4u, 0u], after.Nodes.Select(n => n.Leads));
        Assert.Empty(topic.Failure);
        await ControlCalls.FailsAsync(
            () =>
                channel.CallAsync<MovePartitionRequest, MovePartitionResponse>(
                    "MovePartition",
                    new() { Topic = "orders", Node = "b" }
                ),
            StatusCode.InvalidArgument,
            "InvalidArgument"
        );
    }

    [Fact]
    public async Task A_node_that_has_just_begun_to_listen_says_so()
    {
        await using LightQServer c = await StartAsync(
            "c",
            new Broker.Cluster.MemberOptions { Silence = TimeSpan.FromHours(1) }
        );
        await using var client = new Client.LightQClient(c.ConnectionString);
        Assert.True((await client.Cluster.GetAsync(cancellationToken: Cancelled)).IsListening);
    }

    [Fact]
    public async Task A_server_that_stops_hands_over_and_is_still_known()
    {
        await CreateAsync(partitions: 4);
        using GrpcChannel channel = GrpcChannel.ForAddress($"http://127.0.0.1:{_b.ControlPort}");
        await _a.StopAsync();
        await Eventually.TrueAsync(
            () => _known[0].Partitions.All(p => p.Refusal is null),
            TimeSpan.FromMinutes(1),
            () => string.Join('\n', _known[0].Partitions.Select(p => $"{p.Index}: {p.Refusal?.Reason}"))
        );
        ClusterMetadata metadata = await UntilAsync(channel, m => m.Nodes[0].State == NodeState.Silent);
        Assert.Equal(["a", "b"], metadata.Nodes.Select(n => n.Name));
        Assert.Equal(NodeState.Alive, metadata.Nodes[1].State);
        Assert.Equal([0u, 4u], metadata.Nodes.Select(n => n.Leads));
    }

    private static async Task<ClusterMetadata> UntilAsync(GrpcChannel channel, Func<ClusterMetadata, bool> condition)
    {
        await foreach (
            ClusterMetadata metadata in channel.StreamAsync<GetMetadataRequest, ClusterMetadata>(
                "WatchMetadata",
                new(),
                cancellationToken: Cancelled
            )
        )
        {
            if (condition(metadata))
                return metadata;
        }
        throw new InvalidOperationException("The watch has ended.");
    }

    /// <summary>A topic of the first server, which the second one knows, too.</summary>
    private async Task<Topic> CreateAsync(uint partitions)
    {
        Topic topic = await Task.Run(
            () =>
                _a.Broker.CreateTopic(
                    "orders",
                    new LightQ.Broker.Topics.TopicSettings
                    {
                        Kind = LightQ.Broker.Topics.TopicKind.Durable,
                        Replicas = 3,
                        Partitions = partitions,
                    }
                ),
            Cancelled
        );
        await Eventually.TrueAsync(
            () => _b.Broker.TryGetTopic("orders", out _),
            TimeSpan.FromMinutes(1),
            () => "b does not know the topic"
        );
        _known.Add(_b.Broker.GetTopic("orders"));
        return topic;
    }

    private Task<LightQServer> StartAsync(string name, Broker.Cluster.MemberOptions? members = null) =>
        LightQServer.StartAsync(
            LightQServerOptions.InProcess with
            {
                DataDirectory = _directory.File(name),
                Broker = new BrokerOptions
                {
                    Replication = new ReplicationOptions
                    {
                        Engine = _engine.Connect(),
                        Cluster = "shop",
                        Node = name,
                        Members = members ?? ForwardingCluster.Members,
                    },
                },
            },
            cancellationToken: Cancelled
        );
}
