using System.Runtime.CompilerServices;
using LightQ.Client;
using LightQ.Client.Connections;
using LightQ.Protocol;
using LightQ.Protocol.Frames;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.Tests.Client;

/// <summary>
/// How streams find the brokers that lead their partitions, and what of the client goes on meanwhile.
/// </summary>
public sealed class LeaderTests
{
    private static readonly TimeSpan Never = TimeSpan.FromDays(1);

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(ReceiveMode.Thread)]
    [InlineData(ReceiveMode.Async)]
    public async Task A_named_producer_follows_its_leader_and_sends_again_what_was_not_acknowledged(ReceiveMode mode)
    {
        using FakeBroker a = new(),
            b = new();
        await using var client = new LightQClient(a.Options with { ReceiveMode = mode });
        Task<Producer> creating = client.CreateProducerAsync("orders", new ProducerOptions { Name = "p" }, Cancel);
        using FakeConnection home = await a.AcceptAsync();
        await MoveAsync(home, await home.ReadAsync(FrameType.OpenProducer), 1, b.Address);
        using FakeConnection node = await b.AcceptAsync();
        FakeFrame open = await node.OpenProducerAsync(producerId: 10);
        await using Producer producer = await creating;
        Task<PublishAck> first = producer.PublishAsync("a"u8, cancellationToken: Cancel).AsTask();
        Assert.Equal(["a"], (await node.ReadBatchAsync()).Bodies);
        await MoveAsync(node, open, 2, a.Address);

        await home.OpenProducerAsync(producerId: 10);
        FakeBatch again = await home.ReadBatchAsync();
        Assert.Equal((0ul, "a"), (again.BaseSequence, again.Bodies[0]));
        await home.AckAsync(again.Stream, again.Ack(7));
        Assert.Equal(7, (await first).Offset);
        Task<PublishAck> second = producer.PublishAsync("b"u8, cancellationToken: Cancel).AsTask();
        FakeBatch next = await home.ReadBatchAsync();
        await home.AckAsync(next.Stream, next.Ack(8));
        Assert.Equal((1ul, 8), (next.BaseSequence, (await second).Offset));
    }

    [Fact]
    public async Task Partitions_of_different_leaders_are_published_to_and_consumed_on_their_brokers()
    {
        using FakeBroker a = new(),
            b = new();
        await using var client = new LightQClient(a.Options);
        Task<Producer> creating = client.CreateProducerAsync("orders", cancellationToken: Cancel);
        using FakeConnection home = await a.AcceptAsync();
        FakeFrame open = await home.ReadAsync(FrameType.OpenProducer);
        await OpenedAsync(home, open, 0, 2);
        await MoveAsync(home, await home.ReadAsync(FrameType.OpenProducer), 1, b.Address);
        using FakeConnection node = await b.AcceptAsync();
        open = await node.ReadAsync(FrameType.OpenProducer);
        Assert.Equal(1u, open.As<OpenProducerFrame>().Partition);
        await OpenedAsync(node, open, 1, 2);
        await using Producer producer = await creating;
        BatchBuilder batch = producer.CreateBatch(partition: 1);
        batch.TryAdd("x"u8);
        ValueTask<PublishAck> publishing = producer.PublishAsync(batch, Cancel);
        FakeBatch published = await node.ReadBatchAsync();
        await node.AckAsync(published.Stream, published.Ack(5));
        PublishAck ack = await publishing;
        Assert.Equal((1, 5L), (ack.Partition, ack.Offset));
    }

    [Fact]
    public async Task A_subscription_goes_on_behind_what_it_saw_on_the_next_leader()
    {
        using FakeBroker a = new(),
            b = new();
        await using var client = new LightQClient(a.Options);
        await using var messages = client.ConsumeAsync("orders", cancellationToken: Cancel).GetAsyncEnumerator(Cancel);
        Task<bool> moved = messages.MoveNextAsync().AsTask();
        using FakeConnection home = await a.AcceptAsync();
        (FakeFrame subscribe, _) = await home.SubscribeAsync(20);
        await home.DeliverAsync(subscribe.Header.Stream, FakeConnection.Batch(20, "a"u8.ToArray()));
        Assert.True(await moved);
        await MoveAsync(home, subscribe, 4, b.Address);
        moved = messages.MoveNextAsync().AsTask();
        using FakeConnection node = await b.AcceptAsync();
        (subscribe, _) = await node.SubscribeAsync(21, epoch: 4);
        Assert.Equal(20, subscribe.As<SubscribeFrame>().LastOffset);
        await node.DeliverAsync(subscribe.Header.Stream, FakeConnection.Batch(21, "b"u8.ToArray()));
        Assert.True(await moved);
        Assert.Equal("b", messages.Current.GetText());
    }

    [Fact]
    public async Task When_a_leader_is_gone_its_streams_ask_at_home_at_once_and_the_client_stays_connected()
    {
        using FakeBroker a = new(),
            b = new(),
            c = new();
        await using var client = new LightQClient(a.Options with { ReconnectDelay = Never, MaxReconnectDelay = Never });
        var states = new List<ConnectionState>();
        client.ConnectionStateChanged += (_, e) => states.Add(e.State);
        Task<Producer> creating = client.CreateProducerAsync("orders", new ProducerOptions { Name = "p" }, Cancel);
        using FakeConnection home = await a.AcceptAsync();
        await MoveAsync(home, await home.ReadAsync(FrameType.OpenProducer), 1, b.Address);
        FakeConnection node = await b.AcceptAsync();
        await node.OpenProducerAsync(producerId: 10);
        await using Producer producer = await creating;
        Task<PublishAck> publishing = producer.PublishAsync("a"u8, cancellationToken: Cancel).AsTask();
        await node.ReadBatchAsync();
        int port = b.Port;
        b.Dispose();
        node.Dispose();

        // It does not know.
        await MoveAsync(home, await home.ReadAsync(FrameType.OpenProducer), 1, $"127.0.0.1:{port}");
        await MoveAsync(home, await home.ReadAsync(FrameType.OpenProducer), 1, "");
        await MoveAsync(home, await home.ReadAsync(FrameType.OpenProducer), 2, c.Address);
        using FakeConnection next = await c.AcceptAsync();
        await next.OpenProducerAsync(producerId: 10);
        FakeBatch again = await next.ReadBatchAsync();
        await next.AckAsync(again.Stream, again.Ack(7));
        Assert.Equal(7, (await publishing).Offset);
        Assert.Equal([ConnectionState.Connecting, ConnectionState.Connected], states);
    }

    [Fact]
    public async Task A_client_of_several_brokers_connects_to_the_first_that_answers()
    {
        using var b = new FakeBroker();
        using var nobody = new RefusingPort();
        await using var client = new LightQClient(b.Options with { DataPort = nobody.Port, OtherBrokers = Only(b) });
        Task connecting = client.ConnectAsync(Cancel);
        using FakeConnection connection = await b.AcceptAsync();
        await connecting;
    }

    [Fact]
    public async Task When_none_of_them_answers_all_are_named()
    {
        using RefusingPort one = new(),
            two = new();
        await using var client = new LightQClient($"lightq://127.0.0.1:{one.Port},127.0.0.1:{two.Port}");
        LightQException e = await Assert.ThrowsAsync<LightQException>(() => client.ConnectAsync(Cancel));
        Assert.Equal(ErrorCode.Unavailable, e.Code);
        Assert.Contains($"connection to lightq://127.0.0.1:{one.Port} failed", e.Message, StringComparison.Ordinal);
        Assert.Contains($"connection to lightq://127.0.0.1:{two.Port} failed", e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_lost_connection_is_replaced_at_once_by_one_to_the_next_broker()
    {
        using FakeBroker a = new(),
            b = new();
        await using var client = new LightQClient(
            a.With(b.Port) with
            {
                ReconnectDelay = Never,
                MaxReconnectDelay = Never,
            }
        );
        var brokers = new List<(ConnectionState, string?)>();
        client.ConnectionStateChanged += (_, e) => brokers.Add((e.State, e.Broker));
        Task<Producer> creating = client.CreateProducerAsync("orders", new ProducerOptions { Name = "p" }, Cancel);
        FakeConnection first = await a.AcceptAsync();
        await first.OpenProducerAsync(producerId: 10);
        await using Producer producer = await creating;
        first.Dispose();
        using FakeConnection second = await b.AcceptAsync();
        await second.OpenProducerAsync(producerId: 10);
        Task<PublishAck> publishing = producer.PublishAsync("a"u8, cancellationToken: Cancel).AsTask();
        FakeBatch batch = await second.ReadBatchAsync();
        await second.AckAsync(batch.Stream, batch.Ack(7));
        await publishing;
        Assert.Equal(
            [
                (ConnectionState.Connecting, a.Address),
                (ConnectionState.Connected, a.Address),
                (ConnectionState.Reconnecting, a.Address),
                (ConnectionState.Connected, b.Address),
            ],
            brokers
        );
    }

    [Fact]
    public async Task An_epoch_older_than_the_newest_seen_is_not_followed()
    {
        using FakeBroker a = new(),
            b = new(),
            stale = new();
        await using var client = new LightQClient(a.Options);
        Task<Producer> creating = client.CreateProducerAsync("orders", cancellationToken: Cancel);
        using FakeConnection home = await a.AcceptAsync();
        await MoveAsync(home, await home.ReadAsync(FrameType.OpenProducer), 5, b.Address);
        using FakeConnection node = await b.AcceptAsync();
        await MoveAsync(node, await node.ReadAsync(FrameType.OpenProducer), 6, "");
        await MoveAsync(home, await home.ReadAsync(FrameType.OpenProducer), 5, stale.Address);
        await home.OpenProducerAsync();
        await (await creating).DisposeAsync();
        Assert.False(stale.HasPending);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Where_no_leader_is_named_a_cluster_is_asked_for_it(bool isCluster)
    {
        using FakeBroker a = new(),
            b = new(),
            c = new();
        var leaders = new FakeLeaders(c.Address);
        await using var client = new LightQClient(a.With(b.Port), leaders);
        Task<Producer> creating = client.CreateProducerAsync("orders", new ProducerOptions { Partition = 3 }, Cancel);
        using FakeConnection home = await a.AcceptAsync(features: isCluster ? ProtocolFeatures.Cluster : 0);
        await MoveAsync(home, await home.ReadAsync(FrameType.OpenProducer), 2, "");
        if (!isCluster)
        {
            await home.OpenProducerAsync();
            await (await creating).DisposeAsync();
            Assert.Empty(leaders.Asked);
            return;
        }
        using FakeConnection node = await c.AcceptAsync();
        await node.OpenProducerAsync();
        await (await creating).DisposeAsync();
        Assert.Equal([("orders", 3, 2u)], leaders.Asked);
    }

    [Fact]
    public async Task Where_nobody_knows_a_leader_the_brokers_are_asked_in_turn()
    {
        using FakeBroker a = new(),
            b = new();
        await using var client = new LightQClient(a.With(b.Port), new FakeLeaders(null));
        Task<Producer> creating = client.CreateProducerAsync("orders", cancellationToken: Cancel);
        using FakeConnection home = await a.AcceptAsync(features: ProtocolFeatures.Cluster);
        for (int i = 0; i < 3; i++)
            await MoveAsync(home, await home.ReadAsync(FrameType.OpenProducer), 0, "");
        using FakeConnection node = await b.AcceptAsync(features: ProtocolFeatures.Cluster);
        await node.OpenProducerAsync();
        await (await creating).DisposeAsync();
    }

    [Fact]
    public async Task A_leader_that_secrets_may_not_be_sent_to_ends_the_stream()
    {
        using var a = new FakeBroker();
        await using var client = new LightQClient(a.Options with { User = "ann", Password = "pw" });
        Task<Producer> creating = client.CreateProducerAsync("orders", cancellationToken: Cancel);
        using FakeConnection home = await a.AcceptAsync();
        await MoveAsync(home, await home.ReadAsync(FrameType.OpenProducer), 1, "192.0.2.1:5700");
        Assert.Equal(ErrorCode.TlsRequired, (await Assert.ThrowsAsync<LightQException>(() => creating)).Code);
    }

    [Fact]
    public async Task A_connection_to_a_leader_ends_when_nothing_has_used_it_for_a_while()
    {
        using FakeBroker a = new(),
            b = new();
        var time = new ManualTime();
        await using var client = new LightQClient(a.Options with { ConnectionTime = time });
        Task<Producer> creating = client.CreateProducerAsync("orders", cancellationToken: Cancel);
        using FakeConnection home = await a.AcceptAsync(heartbeatMilliseconds: 0);
        await MoveAsync(home, await home.ReadAsync(FrameType.OpenProducer), 1, b.Address);
        using FakeConnection node = await b.AcceptAsync(heartbeatMilliseconds: 0);
        await node.OpenProducerAsync();
        await (await creating).DisposeAsync();
        await node.ReadAsync(FrameType.Close);
        Task<FakeFrame?> end = node.ReadAnyAsync();
        while (!end.IsCompleted)
        {
            time.Advance(BrokerLinks.IdleTime); // The wait may not have begun yet.
            await Task.Yield();
        }
        Assert.Null(await end);
        creating = client.CreateProducerAsync("orders", cancellationToken: Cancel);
        await MoveAsync(home, await home.ReadAsync(FrameType.OpenProducer), 1, b.Address);
        using FakeConnection again = await b.AcceptAsync(heartbeatMilliseconds: 0);
        await again.OpenProducerAsync();
        await (await creating).DisposeAsync();
    }

    [Fact]
    public async Task While_a_leader_is_connected_the_client_is_and_its_producers_go_on()
    {
        using FakeBroker a = new(),
            b = new();
        await using var client = new LightQClient(a.Options with { ReconnectDelay = Never, MaxReconnectDelay = Never });
        var lost = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        client.ConnectionStateChanged += (_, e) =>
        {
            if (e.State == ConnectionState.Reconnecting)
                lost.TrySetResult();
        };
        Task<Producer> creating = client.CreateProducerAsync("orders", new ProducerOptions { Name = "p" }, Cancel);
        FakeConnection home = await a.AcceptAsync();
        await MoveAsync(home, await home.ReadAsync(FrameType.OpenProducer), 1, b.Address);
        FakeConnection node = await b.AcceptAsync();
        await node.OpenProducerAsync(producerId: 10);
        await using Producer producer = await creating;
        a.Dispose();
        home.Dispose();
        Task<PublishAck> publishing = producer.PublishAsync("a"u8, cancellationToken: Cancel).AsTask();
        FakeBatch batch = await node.ReadBatchAsync();
        await node.AckAsync(batch.Stream, batch.Ack(7));
        Assert.Equal(7, (await publishing).Offset);
        Assert.Equal(ConnectionState.Connected, client.State);
        Assert.False(lost.Task.IsCompleted);
        node.Dispose();
        await lost.Task.WaitAsync(Cancel);
    }

    [Fact]
    public void Old_epochs_are_believed_when_they_stay()
    {
        var hints = new LeaderHints();
        hints.OnOpened(9);
        Assert.Equal(new LeaderHint("n2:1", 9, 1), hints.Take(9, "n2:1"));
        for (int turn = 2; turn < 9; turn++)
            Assert.Equal(new LeaderHint(null, 9, turn), hints.Take(2, "n1:1"));
        Assert.Equal(new LeaderHint("n1:1", 2, 9), hints.Take(2, "n1:1"));
        Assert.Equal(new LeaderHint("n3:1", 2, 10), hints.Take(0, "n3:1"));
        Assert.Equal(new LeaderHint(null, 2, 11), hints.Take(0, "nonsense"));
    }

    [Fact]
    public void A_leader_of_a_newer_epoch_is_asked_at_once_however_many_were_asked_in_vain()
    {
        var hints = new LeaderHints();
        for (int turn = 1; turn < 6; turn++)
            Assert.Equal(new LeaderHint("n1:1", 3, turn), hints.Take(3, "n1:1"));
        Assert.Equal(new LeaderHint("n2:1", 4, 1), hints.Take(4, "n2:1"));
        Assert.Equal(new LeaderHint("n2:1", 4, 2), hints.Take(4, "n2:1"));
    }

    private static BrokerEndpoint[] Only(FakeBroker broker) => [new() { Host = "127.0.0.1", DataPort = broker.Port }];

    private static Task MoveAsync(FakeConnection connection, FakeFrame open, uint epoch, string address) =>
        connection.WriteAsync(
            new ClosedFrame(ErrorCode.NotLeader, "Another node leads orders.", epoch, address),
            open.Header.Stream,
            open.Header.Tag
        );

    private static Task OpenedAsync(FakeConnection connection, FakeFrame open, uint partition, uint count) =>
        connection.WriteAsync(
            new ProducerOpenedFrame(
                Guid.Empty,
                partition,
                count,
                1,
                1,
                1,
                0,
                0,
                0,
                ProtocolLimits.DefaultPublishWindowBytes,
                ProtocolLimits.DefaultBatchBytes,
                Durability.Memory
            ),
            open.Header.Stream,
            open.Header.Tag
        );

    private sealed class FakeLeaders(string? address) : ILeaderDirectory
    {
        public List<(string Topic, int? Partition, uint Newest)> Asked { get; } = [];

        public Task<string?> FindAsync(string topic, int? partition, uint newest, CancellationToken cancellationToken)
        {
            Asked.Add((topic, partition, newest));
            return Task.FromResult(address);
        }

        public async IAsyncEnumerable<LeaderMap> WatchAsync(
            int broker,
            IReadOnlyCollection<string> topics,
            [EnumeratorCancellation] CancellationToken cancellationToken
        )
        {
            await Task.Delay(Timeout.InfiniteTimeSpan, cancellationToken);
            yield break;
        }
    }
}
