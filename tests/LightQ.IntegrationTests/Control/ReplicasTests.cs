using Grpc.Core;
using LightQ.Client;
using LightQ.IntegrationTests.Cli;
using LightQ.IntegrationTests.DataPlane;
using LightQ.IntegrationTests.Json;
using LightQ.Protocol.Control;
using LightQ.Protocol.Frames;
using Xunit;

namespace LightQ.IntegrationTests.Control;

/// <summary>What a broker without a cluster says of replicas, on every way to it.</summary>
public sealed class ReplicasTests
{
    private const string NeedsCluster = "replicas 3 needs a cluster: set Cluster:Engine, see docs/operate/cluster.md.";

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    public async Task No_topic_gets_replicas()
    {
        await using TestServer server = await TestServer.StartAsync();
        RpcException error = await ControlCalls.FailsAsync(
            () =>
                server.Control.CallAsync<CreateTopicRequest, CreateTopicResponse>(
                    "CreateTopic",
                    new()
                    {
                        Name = "orders",
                        Settings = new TopicSettings { Replicas = 3 },
                    }
                ),
            StatusCode.InvalidArgument,
            "NotSupported"
        );
        Assert.Equal(NeedsCluster, error.Status.Detail);
        (await server.SendAsync("POST", "/v1/topics", """{"name": "orders", "settings": {"replicas": 3}}""")).Refuses(
            400,
            "NotSupported",
            NeedsCluster
        );
        (await LightQTool.RunAsync(server.ConnectionString, "topic", "create", "orders", "--replicas", "3")).FailedWith(
            1,
            NeedsCluster
        );
        await using var client = new LightQClient(server.ConnectionString);
        LightQException refused = await Assert.ThrowsAsync<LightQException>(() =>
            client.Topics.EnsureAsync(new TopicSpec("orders") { Replicas = 5 }, Cancelled)
        );
        Assert.Equal(ErrorCode.NotSupported, refused.Code);
        Assert.False(await client.Topics.ListAsync(Cancelled).AnyAsync(Cancelled));
    }

    [Fact]
    public async Task A_topic_that_exists_gets_none_either()
    {
        await using TestServer server = await TestServer.StartAsync();
        await using var client = new LightQClient(server.ConnectionString);
        var alone = new TopicSpec("orders") { Replicas = 1 };
        await client.Topics.CreateAsync(alone, Cancelled);
        Assert.Empty((await client.Topics.EnsureAsync(alone, Cancelled)).Changes);
        LightQException refused = await Assert.ThrowsAsync<LightQException>(() =>
            client.Topics.EnsureAsync(alone with { Replicas = 3 }, Cancelled)
        );
        Assert.Equal(ErrorCode.TopicExists, refused.Code);
        Assert.EndsWith(
            "settings that cannot be changed: replicas is 0, not 3. 'lightq topic replicate' gives it replicas.",
            refused.Message,
            StringComparison.Ordinal
        );
    }

    [Fact]
    public async Task Nothing_is_acknowledged_as_replicated()
    {
        await using TestServer server = await TestServer.StartAsync();
        await server.CreateTopicAsync("orders");
        await using var client = new LightQClient(server.ConnectionString);
        LightQException refused = await Assert.ThrowsAsync<LightQException>(() =>
            client.CreateProducerAsync("orders", new ProducerOptions { AckLevel = Durability.Replicated }, Cancelled)
        );
        Assert.Equal(ErrorCode.NotSupported, refused.Code);
        Assert.Contains("has no cluster", refused.Message, StringComparison.Ordinal);

        await using RawClient raw = await RawClient.ConnectAsync(server.DataPort);
        await raw.SendAsync(new OpenProducerFrame("orders", 0, Durability.Replicated, ""), 1, 1);
        (FrameHeader header, byte[] body) = await raw.ReadAsync();
        Assert.Equal(FrameType.Error, header.Type);
        Assert.Equal(ErrorCode.MalformedFrame, FrameCodec.Read<ErrorFrame>(body).Code);
    }
}
