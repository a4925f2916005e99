using LightQ.Client;
using LightQ.Client.Connections;
using LightQ.Protocol;
using LightQ.Protocol.Frames;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.Tests.Client;

/// <summary>The client and brokers with and without a cluster.</summary>
public sealed class ClusterTests
{
    private static readonly ProducerOptions Replicated = new() { AckLevel = Durability.Replicated };

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Fact]
    public async Task A_client_always_asks_for_the_cluster_and_the_window()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        Task connecting = client.ConnectAsync(Cancel);
        using var connection = new FakeConnection(await broker.AcceptRawAsync());
        Assert.Equal(
            ProtocolFeatures.Cluster
                | ProtocolFeatures.Window
                | ProtocolFeatures.RefusedAlone
                | ProtocolFeatures.BrokerClock,
            (await connection.WelcomeAsync()).Features
        );
        await connecting;
    }

    [Fact]
    public async Task A_producer_that_asks_for_replicated_is_acknowledged_at_it()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        Task<Producer> creating = client.CreateProducerAsync("orders", Replicated, Cancel);
        using FakeConnection connection = await broker.AcceptAsync(features: ProtocolFeatures.Cluster);
        FakeFrame open = await connection.OpenProducerAsync();
        Assert.Equal(Durability.Replicated, open.As<OpenProducerFrame>().AckLevel);
        await using Producer producer = await creating;
        ValueTask<PublishAck> publishing = producer.PublishAsync("a"u8, cancellationToken: Cancel);
        FakeBatch batch = await connection.ReadBatchAsync();
        byte[] ack = new byte[PublishAckFrame.SizeOf(1)];
        PublishAckFrame.Write(ack, batch.Stream, Durability.Replicated, [batch.Ack(7)]);
        await connection.WriteRawAsync(ack);

        Assert.Equal(new PublishAck(7, 1, Durability.Replicated, 0), await publishing);
    }

    [Fact]
    public async Task A_broker_without_a_cluster_is_not_asked_for_replicated()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        Task<Producer> creating = client.CreateProducerAsync("orders", Replicated, Cancel);
        using FakeConnection connection = await broker.AcceptAsync();

        LightQException e = await Assert.ThrowsAsync<LightQException>(() => creating);
        Assert.Equal((ErrorCode.NotSupported, false), (e.Code, e.IsTransient));
        Assert.Contains("has no cluster", e.Message, StringComparison.Ordinal);
        Task<Producer> other = client.CreateProducerAsync("orders", cancellationToken: Cancel);
        await connection.OpenProducerAsync(); // The first frame since Hello.
        await (await other).DisposeAsync();
    }

    [Theory]
    [InlineData(1, 0, 20)]
    [InlineData(1, 1, 50)]
    [InlineData(2, 0.5, 70)]
    [InlineData(4, 1, 400)]
    [InlineData(5, 1, 500)]
    [InlineData(int.MaxValue, 0, 200)]
    public void Clients_ask_for_the_leader_at_different_times(int attempt, double random, double milliseconds) =>
        Assert.Equal(TimeSpan.FromMilliseconds(milliseconds), RetryDelay.Election(attempt, random));

    [Theory]
    [InlineData("p")]
    [InlineData(null)]
    public async Task A_producer_whose_partition_moves_is_opened_again_on_the_same_connection(string? name)
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        Task<Producer> creating = client.CreateProducerAsync("orders", new ProducerOptions { Name = name }, Cancel);
        using FakeConnection connection = await broker.AcceptAsync();
        ulong id = name is null ? 0ul : 10;
        FakeFrame open = await connection.OpenProducerAsync(producerId: id);
        await using Producer producer = await creating;
        Task<PublishAck> first = producer.PublishAsync("a"u8, cancellationToken: Cancel).AsTask();
        await connection.ReadBatchAsync();
        await MoveAsync(connection, open);

        open = await connection.ReadAsync(FrameType.OpenProducer);
        await MoveAsync(connection, open); // Nobody leads it yet.
        open = await connection.OpenProducerAsync(producerId: id);
        Task<PublishAck> second = producer.PublishAsync("b"u8, cancellationToken: Cancel).AsTask();
        FakeBatch batch = await connection.ReadBatchAsync();
        if (name is null)
        {
            Assert.Equal(ErrorCode.OutcomeUnknown, (await Assert.ThrowsAsync<LightQException>(() => first)).Code);
        }
        else
        {
            Assert.Equal((0ul, "a"), (batch.BaseSequence, batch.Bodies[0]));
            await connection.AckAsync(batch.Stream, batch.Ack(7));
            Assert.Equal(7, (await first).Offset);
            batch = await connection.ReadBatchAsync();
        }
        Assert.Equal(["b"], batch.Bodies);
        await connection.AckAsync(batch.Stream, batch.Ack(8));
        Assert.Equal(8, (await second).Offset);
    }

    [Fact]
    public async Task A_producer_waits_for_a_leader_before_it_is_open()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        Task<Producer> creating = client.CreateProducerAsync("orders", cancellationToken: Cancel);
        using FakeConnection connection = await broker.AcceptAsync();
        await MoveAsync(connection, await connection.ReadAsync(FrameType.OpenProducer));
        await connection.OpenProducerAsync();
        await (await creating).DisposeAsync();
    }

    [Fact]
    public async Task Where_no_leader_is_found_as_long_as_a_connection_may_take_the_producer_is_not_opened()
    {
        using var broker = new FakeBroker();
        var time = new ManualTime();
        await using var client = new LightQClient(broker.Options with { ConnectionTime = time });
        Task<Producer> creating = client.CreateProducerAsync("orders", cancellationToken: Cancel);
        using FakeConnection connection = await broker.AcceptAsync(heartbeatMilliseconds: 0);
        await MoveAsync(connection, await connection.ReadAsync(FrameType.OpenProducer));
        Task<FakeFrame> again = connection.ReadAsync(FrameType.OpenProducer);
        while (!again.IsCompleted)
        {
            time.Advance(broker.Options.ConnectTimeout); // The pause may not have begun yet.
            await Task.Yield();
        }
        await MoveAsync(connection, await again);

        Assert.Equal(ErrorCode.NotLeader, (await Assert.ThrowsAsync<LightQException>(() => creating)).Code);
    }

    [Fact]
    public async Task A_subscription_whose_partition_moves_goes_on_where_it_was()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        await using var messages = client.ConsumeAsync("orders", cancellationToken: Cancel).GetAsyncEnumerator(Cancel);
        Task<bool> moved = messages.MoveNextAsync().AsTask();
        using FakeConnection connection = await broker.AcceptAsync();
        FakeFrame subscribe = await connection.ReadAsync(FrameType.Subscribe);
        await connection.ReadAsync(FrameType.Credit);
        await MoveAsync(connection, subscribe); // Nobody leads it yet.
        (subscribe, _) = await connection.SubscribeAsync(20);
        await connection.DeliverAsync(subscribe.Header.Stream, FakeConnection.Batch(20, "a"u8.ToArray()));
        Assert.True(await moved);
        Assert.Equal("a", messages.Current.GetText());
        moved = messages.MoveNextAsync().AsTask();
        await MoveAsync(connection, subscribe);

        (subscribe, _) = await connection.SubscribeAsync(21);
        Assert.Equal(20, subscribe.As<SubscribeFrame>().LastOffset);
        await connection.DeliverAsync(subscribe.Header.Stream, FakeConnection.Batch(21, "b"u8.ToArray()));
        Assert.True(await moved);
        Assert.Equal("b", messages.Current.GetText());
    }

    [Fact]
    public async Task A_producer_of_a_broker_that_has_left_its_cluster_ends_and_what_it_sent_is_unknown()
    {
        using var broker = new FakeBroker();
        await using var client = new LightQClient(broker.Options);
        Task<Producer> creating = client.CreateProducerAsync("orders", Replicated with { Name = "p" }, Cancel);
        FakeConnection connection = await broker.AcceptAsync(features: ProtocolFeatures.Cluster);
        await connection.OpenProducerAsync(producerId: 10);
        await using Producer producer = await creating;
        Task<PublishAck> publishing = producer.PublishAsync("a"u8, cancellationToken: Cancel).AsTask();
        await connection.ReadBatchAsync();
        connection.Dispose();
        using FakeConnection next = await broker.AcceptAsync();

        Assert.Equal(ErrorCode.OutcomeUnknown, (await Assert.ThrowsAsync<LightQException>(() => publishing)).Code);
        LightQException later = await Assert.ThrowsAsync<LightQException>(() =>
            producer.PublishAsync("b"u8, cancellationToken: Cancel).AsTask()
        );
        Assert.Equal(ErrorCode.NotSupported, later.Code);
    }

    private static Task MoveAsync(FakeConnection connection, FakeFrame open) =>
        connection.WriteAsync(
            new ClosedFrame(ErrorCode.NotLeader, "Another node leads orders.", 4, ""),
            open.Header.Stream,
            open.Header.Tag
        );
}
