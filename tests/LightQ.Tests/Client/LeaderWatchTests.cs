using LightQ.Client;
using LightQ.Client.Connections;
using LightQ.Protocol;
using LightQ.Protocol.Control;
using LightQ.Protocol.Frames;
using LightQ.Tests.Shared;
using Xunit;
using PublishAck = LightQ.Client.PublishAck;

namespace LightQ.Tests.Client;

/// <summary>How a client of several brokers leaves a leader whose connection lives and that does not answer.</summary>
public sealed class LeaderWatchTests
{
    private const int MiB = 1024 * 1024;

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(ReceiveMode.Thread)]
    [InlineData(ReceiveMode.Async)]
    public async Task A_producer_leaves_a_leader_that_does_not_answer(ReceiveMode mode)
    {
        using FakeBroker a = new(),
            b = new();
        var leaders = new ScriptedLeaders();
        await using var client = new LightQClient(a.With(b.Port) with { ReceiveMode = mode }, leaders);
        (FakeConnection home, Producer producer) = await OpenAsync(client, a);
        Task<PublishAck> publishing = producer.PublishAsync("a"u8, cancellationToken: Cancel).AsTask();
        FakeBatch batch = await home.ReadBatchAsync();
        await leaders.Watched.ReadAsync(Cancel);

        leaders.Tell(b.Address, epoch: 2);
        using FakeConnection next = await b.AcceptAsync(features: ProtocolFeatures.Cluster);
        await next.OpenProducerAsync(producerId: 10);
        Assert.Equal(["a"], (await next.ReadBatchAsync()).Bodies);
        await home.AckAsync(batch.Stream, batch.Ack(6)); // It comes too late.
        await next.AckAsync(batch.Stream, batch.Ack(7));
        Assert.Equal(7, (await publishing).Offset);
        await home.ReadAsync(FrameType.Close);
        await producer.DisposeAsync();
        home.Dispose();
    }

    [Theory]
    [InlineData(ReceiveMode.Thread)]
    [InlineData(ReceiveMode.Async)]
    public async Task A_leader_that_receives_nothing_does_not_hold_what_is_being_sent(ReceiveMode mode)
    {
        using FakeBroker a = new(),
            b = new(),
            c = new();
        var leaders = new ScriptedLeaders();
        await using var client = new LightQClient(a.With(b.Port) with { ReceiveMode = mode }, leaders);
        (FakeConnection home, Producer producer) = await OpenAsync(client, a, window: 64 * MiB);
        await leaders.Watched.ReadAsync(Cancel);
        byte[] body = new byte[512 * 1024];
        // On another thread: it may send itself.
        Task<Task<PublishAck>[]> publishing = Task.Run(
            () =>
                Enumerable
                    .Range(0, 80)
                    .Select(_ => producer.PublishAsync(body, cancellationToken: Cancel).AsTask())
                    .ToArray(),
            Cancel
        );

        leaders.Tell(c.Address, epoch: 2);
        using FakeConnection next = await c.AcceptAsync(features: ProtocolFeatures.Cluster);
        await next.OpenProducerAsync(producerId: 10, window: 64 * MiB);
        Task<PublishAck>[] acks = await publishing;
        for (int got = 0; got < acks.Length; )
        {
            FakeBatch batch = await next.ReadBatchAsync();
            Assert.Equal((ulong)got, batch.BaseSequence);
            await next.AckAsync(batch.Stream, batch.Ack(got));
            got += batch.Bodies.Length;
        }
        await Task.WhenAll(acks);
        await producer.DisposeAsync();
        home.Dispose();
    }

    [Fact]
    public async Task A_subscription_goes_on_at_the_leader_that_the_cluster_names()
    {
        using FakeBroker a = new(),
            b = new();
        var leaders = new ScriptedLeaders();
        await using var client = new LightQClient(a.With(b.Port), leaders);
        await using var messages = client.ConsumeAsync("orders", cancellationToken: Cancel).GetAsyncEnumerator(Cancel);
        Task<bool> moved = messages.MoveNextAsync().AsTask();
        using FakeConnection home = await a.AcceptAsync(features: ProtocolFeatures.Cluster);
        (FakeFrame subscribe, _) = await home.SubscribeAsync(20);
        await home.DeliverAsync(subscribe.Header.Stream, FakeConnection.Batch(20, "a"u8.ToArray()));
        Assert.True(await moved);
        moved = messages.MoveNextAsync().AsTask();
        await leaders.Watched.ReadAsync(Cancel);

        leaders.Tell(b.Address, epoch: 3); // No news: it is open in this epoch.
        leaders.Tell(b.Address, epoch: 4);
        using FakeConnection next = await b.AcceptAsync(features: ProtocolFeatures.Cluster);
        (subscribe, _) = await next.SubscribeAsync(21, epoch: 4);
        Assert.Equal(20, subscribe.As<SubscribeFrame>().LastOffset);
        await home.DeliverAsync(subscribe.Header.Stream, FakeConnection.Batch(21, "late"u8.ToArray()));
        await next.DeliverAsync(subscribe.Header.Stream, FakeConnection.Batch(21, "b"u8.ToArray()));
        Assert.True(await moved);
        Assert.Equal("b", messages.Current.GetText());
    }

    [Fact]
    public async Task A_stream_that_waits_for_a_leader_goes_to_the_one_that_the_cluster_names_at_once()
    {
        using FakeBroker a = new(),
            b = new();
        var leaders = new ScriptedLeaders();
        var time = new ManualTime(); // No pause of the client ends by itself.
        await using var client = new LightQClient(a.With(b.Port) with { ConnectionTime = time }, leaders);
        Task<Producer> creating = client.CreateProducerAsync("orders", new ProducerOptions { Name = "p" }, Cancel);
        using FakeConnection home = await a.AcceptAsync(heartbeatMilliseconds: 0, features: ProtocolFeatures.Cluster);
        FakeFrame open = await home.OpenProducerAsync(producerId: 10);
        await using Producer producer = await creating;
        Task watched = leaders.Watched.ReadAsync(Cancel).AsTask();
        while (!watched.IsCompleted)
        {
            time.Advance(TimeSpan.FromSeconds(1)); // It looks now and then whether there is something to watch.
            await Task.Yield();
        }
        await home.WriteAsync(
            new ClosedFrame(ErrorCode.NotLeader, "No node leads orders.", 1, ""),
            open.Header.Stream,
            open.Header.Tag
        );
        await home.WriteAsync(new PingFrame(1)); // Behind the answer it is closed.
        await home.ReadAsync(FrameType.Pong);

        leaders.Tell(b.Address, epoch: 2);
        using FakeConnection next = await b.AcceptAsync(heartbeatMilliseconds: 0, features: ProtocolFeatures.Cluster);
        await next.OpenProducerAsync(producerId: 10);
    }

    [Fact]
    public async Task The_connection_to_a_silent_node_ends()
    {
        using FakeBroker a = new(),
            b = new();
        var leaders = new ScriptedLeaders();
        await using var client = new LightQClient(a.With(b.Port), leaders);
        (FakeConnection home, Producer producer) = await OpenAsync(client, a);
        await leaders.Watched.ReadAsync(Cancel);
        leaders.Tell(a.Address, 1, a.Address);
        await EndOf(home);
        using FakeConnection next = await b.AcceptAsync(features: ProtocolFeatures.Cluster);
        await next.OpenProducerAsync(producerId: 10);
        await producer.DisposeAsync();
    }

    [Fact]
    public async Task A_node_that_hears_nobody_is_not_believed_and_another_is_watched()
    {
        using FakeBroker a = new(),
            b = new();
        var leaders = new ScriptedLeaders();
        await using var client = new LightQClient(a.With(b.Port), leaders);
        (FakeConnection home, Producer producer) = await OpenAsync(client, a);
        (int broker, string[] topics) = await leaders.Watched.ReadAsync(Cancel);
        Assert.Equal(["orders"], topics);
        Assert.Equal(1, broker); // Which no stream uses.
        leaders.Tell(b.Address, 1, a.Address, "127.0.0.1:1");
        await leaders.Watched.ReadAsync(Cancel);
        await PublishAsync(home, producer);
        leaders.End();
        await leaders.Watched.ReadAsync(Cancel);
        await producer.DisposeAsync();
        home.Dispose();
    }

    [Fact]
    public async Task A_client_of_one_broker_does_not_watch()
    {
        using var a = new FakeBroker();
        var leaders = new ScriptedLeaders();
        await using var client = new LightQClient(a.Options, leaders);
        (FakeConnection home, Producer producer) = await OpenAsync(client, a);
        await PublishAsync(home, producer);
        await producer.DisposeAsync();
        Assert.False(leaders.Watched.TryRead(out _));
        home.Dispose();
    }

    [Fact]
    public void A_map_has_the_leaders_that_can_be_reached_and_the_silent_nodes()
    {
        var map = new LeaderMap(
            new ClusterMetadata
            {
                Nodes =
                {
                    new ClusterNode { Name = "n1", DataAddress = "h1:5700" },
                    new ClusterNode
                    {
                        Name = "n2",
                        DataAddress = "h2:5700",
                        State = NodeState.Silent,
                    },
                    new ClusterNode { Name = "n3", DataAddress = "" },
                },
                Partitions =
                {
                    new PartitionLeader
                    {
                        Topic = "orders",
                        Node = "n1",
                        Epoch = 4,
                    },
                    new PartitionLeader { Topic = "orders", Partition = 1 },
                    new PartitionLeader
                    {
                        Topic = "orders",
                        Partition = 2,
                        Node = "n3",
                    },
                },
            }
        );
        Assert.True(map.TryFind("orders", 0, out KnownLeader leader));
        Assert.Equal(new KnownLeader(4, "h1", 5700), leader);
        Assert.False(map.TryFind("orders", 1, out _));
        Assert.False(map.TryFind("orders", 2, out _));
        Assert.Equal(["h2:5700"], map.Silent);
        Assert.True(map.HearsMost);
        Assert.False(map.HearsNobody);
    }

    [Fact]
    public async Task A_topic_without_replicas_is_not_watched_for_long()
    {
        using FakeBroker a = new(),
            b = new();
        var leaders = new ScriptedLeaders();
        await using var client = new LightQClient(a.With(b.Port), leaders);
        (FakeConnection home, Producer producer) = await OpenAsync(client, a);
        Assert.Equal(["orders"], (await leaders.Watched.ReadAsync(Cancel)).Topics);
        leaders.TellAlone();
        Assert.Equal(["orders"], await leaders.Ended.ReadAsync(Cancel));

        // The next call is for what may move.
        Task<Producer> creating = client.CreateProducerAsync("bills", cancellationToken: Cancel);
        await home.OpenProducerAsync(producerId: 11);
        await using Producer other = await creating;
        Assert.Equal(["bills"], (await leaders.Watched.ReadAsync(Cancel)).Topics);
        await producer.DisposeAsync();
        home.Dispose();
    }

    /// <summary>Opens a named producer at the first broker, which leads its partition in epoch 1.</summary>
    private static async Task<(FakeConnection Home, Producer Producer)> OpenAsync(
        LightQClient client,
        FakeBroker broker,
        uint window = ProtocolLimits.DefaultPublishWindowBytes
    )
    {
        var options = new ProducerOptions { Name = "p" };
        Task<Producer> creating = client.CreateProducerAsync("orders", options, Cancel);
        FakeConnection home = await broker.AcceptAsync(features: ProtocolFeatures.Cluster);
        await home.OpenProducerAsync(producerId: 10, window: window);
        return (home, await creating);
    }

    private static async Task PublishAsync(FakeConnection connection, Producer producer)
    {
        Task<PublishAck> publishing = producer.PublishAsync("a"u8, cancellationToken: Cancel).AsTask();
        FakeBatch batch = await connection.ReadBatchAsync();
        await connection.AckAsync(batch.Stream, batch.Ack(7));
        await publishing;
    }

    private static async Task EndOf(FakeConnection connection)
    {
        while (await connection.ReadAnyAsync() is not null)
        {
            // What was sent before.
        }
    }
}
